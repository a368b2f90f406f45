#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/format.h"

namespace camshaft::base {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

struct RegularFile {
  Descriptor descriptor;
  uint64_t size;
};

Result<uint64_t> regular_size(int descriptor, const std::filesystem::path& path) {
  struct stat facts;
  if (fstat(descriptor, &facts) != 0) return io_error(format("cannot stat {}", path.native()), errno);
  if (S_ISDIR(facts.st_mode)) return invalid_argument(format("{} is a folder, a file is expected", path.native()));
  if (!S_ISREG(facts.st_mode)) return invalid_argument(format("{} is a special file, a regular file is expected", path.native()));
  return static_cast<uint64_t>(facts.st_size);
}

// Non-blocking, so that a named pipe is refused instead of waited for.
Result<RegularFile> open_regular(const std::filesystem::path& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.number() < 0) {
    if (errno == ENOENT) return not_found(format("{}: no such file", path.native()));
    return io_error(format("cannot open {}", path.native()), errno);
  }
  CS_ASSIGN_OR_RETURN(const uint64_t size, regular_size(descriptor.number(), path));
  return RegularFile{std::move(descriptor), size};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(const RegularFile file, open_regular(path));
  return map(file.descriptor.number(), path);
}

Result<MappedFile> MappedFile::map(int descriptor, const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(const uint64_t size, regular_size(descriptor, path));
  MappedFile mapped;
  mapped.path_ = path;
  if (size == 0) return mapped;
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) return io_error(format("cannot map the {} bytes of {}", size, path.native()), errno);
  mapped.bytes_ = {static_cast<const std::byte*>(address), size};
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})), path_(std::move(other.path_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(path_, other.path_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

// Only whole pages inside the range: its edges may belong to a neighbour.
void MappedFile::drop_pages(size_t offset, size_t size) const {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t limit = offset + std::min(size, bytes_.size() - std::min(offset, bytes_.size()));
  const size_t first = (offset + page - 1) / page * page;
  const size_t last = limit == bytes_.size() ? limit : limit / page * page;
  if (first < last) madvise(const_cast<std::byte*>(bytes_.data()) + first, last - first, MADV_DONTNEED);
}

Result<std::string> read_text_file(const std::filesystem::path& path, uint64_t max_bytes) {
  CS_ASSIGN_OR_RETURN(RegularFile file, open_regular(path));
  if (file.size > max_bytes) {
    return resource_exhausted(format("{} has {} bytes, the limit is {}", path.native(), file.size, max_bytes));
  }
  std::string text(file.size, '\0');
  size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t count = ::read(file.descriptor.number(), text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error(format("cannot read {}", path.native()), errno);
    if (count == 0) return data_loss(format("{} shrank while being read: {} of {} bytes", path.native(), filled, file.size));
    filled += static_cast<size_t>(count);
  }
  return text;
}

}  // namespace camshaft::base
