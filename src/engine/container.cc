#include "engine/container.h"

#include <algorithm>
#include <cstring>

#include "base/span_reader.h"
#include "engine/engine.h"

namespace camshaft::engine {
namespace {

constexpr std::string_view kMagic = "CAMSHAFT";
constexpr size_t kNameBytes = 16;
constexpr uint32_t kMaxSections = 64;
constexpr std::string_view kRebuild = "build the engine again with 'camshaft build'";

template <typename T>
void put(std::vector<std::byte>& out, size_t& at, const T& value) {
  std::memcpy(out.data() + at, &value, sizeof(T));
  at += sizeof(T);
}

uint64_t align_up(uint64_t value) { return (value + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment; }

Result<SectionEntry> read_section(base::SpanReader& reader) {
  SectionEntry entry;
  CS_ASSIGN_OR_RETURN(auto name, reader.read_bytes(kNameBytes, "section name"));
  const char* text = reinterpret_cast<const char*>(name.data());
  entry.name.assign(text, strnlen(text, kNameBytes));
  CS_ASSIGN_OR_RETURN(entry.offset, reader.read<uint64_t>("section offset"));
  CS_ASSIGN_OR_RETURN(entry.size, reader.read<uint64_t>("section size"));
  CS_ASSIGN_OR_RETURN(entry.hash.low, reader.read<uint64_t>("section hash"));
  CS_ASSIGN_OR_RETURN(entry.hash.high, reader.read<uint64_t>("section hash"));
  return entry;
}

Status check_extent(const SectionEntry& entry, uint64_t previous_end, uint64_t file_bytes) {
  uint64_t end = 0;
  if (entry.offset % kSectionAlignment != 0 || entry.offset < previous_end || !base::checked_add(entry.offset, entry.size, &end) ||
      end > file_bytes) {
    return base::data_loss(format("engine header: section '{}' lies at bytes {} to {}, allowed is {} to {}; {}", entry.name,
                                  entry.offset, end, previous_end, file_bytes, kRebuild));
  }
  return base::ok_status();
}

Status check_frame(base::SpanReader& reader) {
  CS_ASSIGN_OR_RETURN(auto magic, reader.read_bytes(kMagic.size(), "magic"));
  if (std::memcmp(magic.data(), kMagic.data(), kMagic.size()) != 0) {
    return base::data_loss("engine header: the file does not begin with 'CAMSHAFT'; it is no engine");
  }
  CS_ASSIGN_OR_RETURN(const uint32_t version, reader.read<uint32_t>("format version"));
  if (version != kFormatVersion) {
    return base::failed_precondition(
        format("engine header: the file has format version {}, this Camshaft reads {}; {}", version, kFormatVersion, kRebuild));
  }
  return base::ok_status();
}

Status check_header_hash(std::span<const std::byte> header) {
  base::Hash128 stored;
  std::memcpy(&stored.low, header.data() + kHeaderBytes - 16, 8);
  std::memcpy(&stored.high, header.data() + kHeaderBytes - 8, 8);
  const base::Hash128 found = base::hash128(header.first(kHeaderBytes - 16));
  if (found == stored) return base::ok_status();
  return base::data_loss(format("engine header: its hash is {}, the header says {}; the file is damaged: {}", found.to_hex(),
                                stored.to_hex(), kRebuild));
}

}  // namespace

std::vector<std::byte> encode_header(const FileHeader& header) {
  CS_CHECK(header.sections.size() <= kMaxSections, "too many sections for the header");
  std::vector<std::byte> out(kHeaderBytes, std::byte{0});
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  size_t at = kMagic.size();
  put(out, at, header.format_version);
  put(out, at, static_cast<uint32_t>(header.sections.size()));
  put(out, at, header.file_bytes);
  for (const SectionEntry& entry : header.sections) {
    CS_CHECK(entry.name.size() < kNameBytes, "section name too long");
    std::memcpy(out.data() + at, entry.name.data(), entry.name.size());
    at += kNameBytes;
    put(out, at, entry.offset);
    put(out, at, entry.size);
    put(out, at, entry.hash.low);
    put(out, at, entry.hash.high);
  }
  const base::Hash128 hash = base::hash128(std::span<const std::byte>(out).first(kHeaderBytes - 16));
  at = kHeaderBytes - 16;
  put(out, at, hash.low);
  put(out, at, hash.high);
  return out;
}

Result<FileHeader> decode_header(std::span<const std::byte> bytes, uint64_t actual_file_bytes) {
  base::SpanReader reader(bytes, "engine header");
  CS_RETURN_IF_ERROR(check_frame(reader));
  if (bytes.size() < kHeaderBytes) {
    return base::data_loss(
        format("engine header: needs {} bytes, the file has {}; the file is cut: {}", kHeaderBytes, bytes.size(), kRebuild));
  }
  CS_RETURN_IF_ERROR(check_header_hash(bytes));
  FileHeader header;
  header.format_version = kFormatVersion;
  CS_ASSIGN_OR_RETURN(const uint32_t count, reader.read<uint32_t>("section count"));
  CS_ASSIGN_OR_RETURN(header.file_bytes, reader.read<uint64_t>("file size"));
  if (header.file_bytes != actual_file_bytes) {
    return base::data_loss(format("engine header: it says {} bytes, the file has {}; the file is cut or overwritten: {}",
                                  header.file_bytes, actual_file_bytes, kRebuild));
  }
  if (count > kMaxSections) {
    return base::data_loss(format("engine header: {} sections, at most {} are allowed; {}", count, kMaxSections, kRebuild));
  }
  uint64_t end = kHeaderBytes;
  for (uint32_t i = 0; i < count; ++i) {
    CS_ASSIGN_OR_RETURN(SectionEntry entry, read_section(reader));
    CS_RETURN_IF_ERROR(check_extent(entry, end, header.file_bytes));
    if (std::ranges::find(header.sections, entry.name, &SectionEntry::name) != header.sections.end()) {
      return base::data_loss(format("engine header: section '{}' stands twice; {}", entry.name, kRebuild));
    }
    end = entry.offset + entry.size;
    header.sections.push_back(std::move(entry));
  }
  return header;
}

Result<SectionEntry> find_section(const FileHeader& header, std::string_view name) {
  for (const SectionEntry& entry : header.sections) {
    if (entry.name == name) return entry;
  }
  return base::data_loss(format("engine header: section '{}' is missing; {}", name, kRebuild));
}

base::Hash128 combine_chunk_hashes(std::span<const base::Hash128> chunks) { return base::hash128(std::as_bytes(chunks)); }

base::Hash128 section_hash(std::span<const std::byte> bytes) {
  std::vector<base::Hash128> chunks;
  for (uint64_t at = 0; at < bytes.size(); at += kHashChunk) {
    chunks.push_back(base::hash128(bytes.subspan(at, std::min<uint64_t>(kHashChunk, bytes.size() - at))));
  }
  return combine_chunk_hashes(chunks);
}

Status check_hash(const SectionEntry& entry, const base::Hash128& found) {
  if (found == entry.hash) return base::ok_status();
  return base::data_loss(format("section '{}': its hash is {}, the header says {}; the file is damaged: {}", entry.name,
                                found.to_hex(), entry.hash.to_hex(), kRebuild));
}

Result<SectionWriter> SectionWriter::create(const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(base::AtomicFileWriter file, base::AtomicFileWriter::create(path));
  const std::vector<std::byte> placeholder(kHeaderBytes, std::byte{0});
  CS_RETURN_IF_ERROR(file.write(placeholder));
  return SectionWriter(std::move(file));
}

Status SectionWriter::begin(std::string name) {
  const uint64_t at = file_.bytes_written();
  const std::vector<std::byte> padding(align_up(at) - at, std::byte{0});
  CS_RETURN_IF_ERROR(file_.write(padding));
  header_.sections.push_back({std::move(name), align_up(at), 0, {}});
  chunks_.clear();
  chunk_ = base::Hasher();
  chunk_bytes_ = 0;
  return base::ok_status();
}

void SectionWriter::close_chunk() {
  chunks_.push_back(chunk_.digest());
  chunk_ = base::Hasher();
  chunk_bytes_ = 0;
}

Status SectionWriter::append(std::span<const std::byte> bytes) {
  header_.sections.back().size += bytes.size();
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min<uint64_t>(bytes.size(), kHashChunk - chunk_bytes_));
    chunk_.update(part);
    chunk_bytes_ += part.size();
    CS_RETURN_IF_ERROR(file_.write(part));
    if (chunk_bytes_ == kHashChunk) close_chunk();
    bytes = bytes.subspan(part.size());
  }
  return base::ok_status();
}

Status SectionWriter::end() {
  if (chunk_bytes_ > 0) close_chunk();
  header_.sections.back().hash = combine_chunk_hashes(chunks_);
  return base::ok_status();
}

Result<uint64_t> SectionWriter::commit() {
  header_.format_version = kFormatVersion;
  header_.file_bytes = file_.bytes_written();
  CS_RETURN_IF_ERROR(file_.write_at(0, encode_header(header_)));
  CS_RETURN_IF_ERROR(file_.commit());
  return header_.file_bytes;
}

}  // namespace camshaft::engine
