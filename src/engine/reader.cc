// Engine file > Engine: header and small sections first, then the target, then the weights in parallel with their hashes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/format.h"
#include "engine/container.h"
#include "engine/engine.h"
#include "engine/sections.h"

namespace camshaft::engine {
namespace {

// Between sections lie zeros, so that no byte of the file goes unchecked.
Status check_padding(const FileHeader& header, std::span<const std::byte> file) {
  uint64_t end = kHeaderBytes;
  for (const SectionEntry& entry : header.sections) {
    const auto padding = file.subspan(end, entry.offset - end);
    if (std::ranges::any_of(padding, [](std::byte byte) { return byte != std::byte{0}; })) {
      return base::data_loss(format(
          "section '{}': the {} bytes before it should be zeros; the file is damaged: build the engine again with 'camshaft build'",
          entry.name, padding.size()));
    }
    end = entry.offset + entry.size;
  }
  if (end == file.size()) return base::ok_status();
  return base::data_loss(
      format("engine header: the last section ends at byte {}, the file at {}; build the engine again with 'camshaft build'", end,
             file.size()));
}

Result<EngineMeta> read_small_sections(const FileHeader& header, std::span<const std::byte> file) {
  EngineMeta meta;
  for (const SmallSection& section : small_sections()) {
    CS_ASSIGN_OR_RETURN(const SectionEntry entry, find_section(header, section.name));
    const auto bytes = file.subspan(entry.offset, entry.size);
    CS_RETURN_IF_ERROR(check_hash(entry, section_hash(bytes)));
    CS_RETURN_IF_ERROR(section.read(bytes, meta));
  }
  CS_ASSIGN_OR_RETURN(const SectionEntry constants, find_section(header, kConstantsSection));
  CS_RETURN_IF_ERROR(check_plan(meta.plan, constants.size));
  CS_RETURN_IF_ERROR(check_padding(header, file));
  return meta;
}

// Reads exactly out.size() bytes; a file cut meanwhile is data_loss, never a fault.
Status read_exactly(int descriptor, uint64_t offset, std::span<std::byte> out) {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor, out.data(), out.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::io_error("section 'constants': cannot read", errno);
    if (got == 0) return base::data_loss("section 'constants': the file became shorter while it was read");
    out = out.subspan(static_cast<size_t>(got));
    offset += static_cast<uint64_t>(got);
  }
  return base::ok_status();
}

// Work on chunk after chunk in several threads; stops at the first error.
class ChunkJob {
 public:
  ChunkJob(uint64_t bytes, int num_threads)
      : bytes_(bytes), num_threads_(num_threads), hashes_((bytes + kHashChunk - 1) / kHashChunk) {}

  // load(offset, size) gives the chunk's bytes, ready to hash.
  template <typename Load>
  Status run(const SectionEntry& entry, Load load) {
    std::vector<Status> results(static_cast<size_t>(num_threads_));
    std::vector<std::thread> threads;
    for (int i = 1; i < num_threads_; ++i) threads.emplace_back([&, i] { results[static_cast<size_t>(i)] = work(load); });
    results[0] = work(load);
    for (std::thread& thread : threads) thread.join();
    for (Status& result : results) CS_RETURN_IF_ERROR(std::move(result));
    return check_hash(entry, combine_chunk_hashes(hashes_));
  }

 private:
  template <typename Load>
  Status work(Load& load) {
    for (size_t i = next_++; i < hashes_.size(); i = next_++) {
      const uint64_t offset = i * kHashChunk;
      CS_ASSIGN_OR_RETURN(const std::span<const std::byte> chunk, load(offset, std::min(kHashChunk, bytes_ - offset)));
      hashes_[i] = base::hash128(chunk);
    }
    return base::ok_status();
  }

  uint64_t bytes_;
  int num_threads_;
  std::vector<base::Hash128> hashes_;
  std::atomic<size_t> next_{0};
};

Result<Engine::Storage> copy_constants(const std::filesystem::path& path, const SectionEntry& entry, int num_threads) {
  Engine::Storage storage;
  CS_ASSIGN_OR_RETURN(storage.arena, device::allocate_host(std::max<uint64_t>(entry.size, 1)));
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::io_error(format("cannot open '{}'", path.string()), errno);
  const std::span<std::byte> arena(storage.arena.data(), entry.size);
  Status status =
      ChunkJob(entry.size, num_threads).run(entry, [&](uint64_t offset, uint64_t size) -> Result<std::span<const std::byte>> {
        CS_RETURN_IF_ERROR(read_exactly(descriptor, entry.offset + offset, arena.subspan(offset, size)));
        return std::span<const std::byte>(arena.subspan(offset, size));
      });
  ::close(descriptor);
  CS_RETURN_IF_ERROR(std::move(status));
  storage.constants = arena;
  return storage;
}

Result<Engine::Storage> map_constants(base::MappedFile file, const SectionEntry& entry, int num_threads) {
  Engine::Storage storage;
  storage.mapping = std::move(file);
  storage.constants = storage.mapping.bytes().subspan(entry.offset, entry.size);
  CS_RETURN_IF_ERROR(
      ChunkJob(entry.size, num_threads).run(entry, [&](uint64_t offset, uint64_t size) -> Result<std::span<const std::byte>> {
        return storage.constants.subspan(offset, size);
      }));
  return storage;
}

struct OpenedFile {
  base::MappedFile file;
  FileHeader header;
  EngineMeta meta;
};

Result<OpenedFile> open_file(const std::filesystem::path& path) {
  OpenedFile opened;
  CS_ASSIGN_OR_RETURN(opened.file, base::MappedFile::open(path));
  const auto bytes = opened.file.bytes();
  CS_ASSIGN_OR_RETURN(opened.header, decode_header(bytes.first(std::min<size_t>(bytes.size(), kHeaderBytes)), bytes.size()));
  CS_ASSIGN_OR_RETURN(opened.meta, read_small_sections(opened.header, bytes));
  return opened;
}

Result<std::unique_ptr<Engine>> load_opened(const std::filesystem::path& path, const LoadOptions& options) {
  CS_ASSIGN_OR_RETURN(OpenedFile opened, open_file(path));
  CS_RETURN_IF_ERROR(check_target(opened.meta.fingerprint, options.machine));
  CS_ASSIGN_OR_RETURN(const SectionEntry entry, find_section(opened.header, kConstantsSection));
  const int threads = std::max(1, options.num_threads);
  Result<Engine::Storage> storage = options.weights == WeightsMode::kMmap ? map_constants(std::move(opened.file), entry, threads)
                                                                          : copy_constants(path, entry, threads);
  if (!storage.ok()) return std::move(storage).status();
  return std::make_unique<Engine>(std::move(opened.meta), std::move(*storage), opened.header.file_bytes);
}

}  // namespace

Result<std::unique_ptr<Engine>> Engine::load(const std::filesystem::path& path, const LoadOptions& options) {
  auto engine = load_opened(path, options);
  if (!engine.ok()) return std::move(engine).status().with_context(path.string());
  return engine;
}

Result<std::unique_ptr<Engine>> Engine::open_meta(const std::filesystem::path& path) {
  auto opened = open_file(path);
  if (!opened.ok()) return std::move(opened).status().with_context(path.string());
  return std::make_unique<Engine>(std::move(opened->meta), Storage{}, opened->header.file_bytes);
}

std::span<const std::byte> Engine::constant(int32_t index) const {
  if (storage_.constants.empty()) return {};
  const ConstantEntry& entry = meta_.plan.constants[static_cast<size_t>(index)];
  return storage_.constants.subspan(entry.offset, entry.bytes);
}

Result<EngineMeta> read_engine_meta(std::span<const std::byte> bytes) {
  CS_ASSIGN_OR_RETURN(const FileHeader header,
                      decode_header(bytes.first(std::min<size_t>(bytes.size(), kHeaderBytes)), bytes.size()));
  return read_small_sections(header, bytes);
}

Result<bool> is_engine_file(const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(base::MappedFile file, base::MappedFile::open(path));
  constexpr std::string_view kMagic = "CAMSHAFT";
  const auto bytes = file.bytes();
  return bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), reinterpret_cast<const char*>(bytes.data()));
}

}  // namespace camshaft::engine
