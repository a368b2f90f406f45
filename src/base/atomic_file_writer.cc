// The writing half of mapped_file.h: a file appears under its final name only when complete and synced.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/format.h"
#include "base/mapped_file.h"

namespace camshaft::base {
namespace {

// A killed process may have left its temporary file behind, and process numbers come again (in a container at once).
constexpr int kMaxTemporaryNames = 100;

std::filesystem::path temporary_name(const std::filesystem::path& path, int attempt) {
  std::string name = format("{}.tmp.{}", path.native(), getpid());
  if (attempt > 0) name += format(".{}", attempt);
  return name;
}

Status write_all(int descriptor, uint64_t offset, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return io_error(format("cannot write {} bytes at {} of {}", bytes.size(), offset, path.native()), errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
  return ok_status();
}

Status sync_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return io_error(format("cannot open the folder {} to sync it", folder.native()), errno);
  const int failed = fsync(descriptor) != 0 ? errno : 0;
  close(descriptor);
  // Some file systems cannot sync folders and say so; they give no stronger promise than the rename.
  if (failed != 0 && failed != EINVAL) return io_error(format("cannot sync the folder {}", folder.native()), failed);
  return ok_status();
}

// The rename would put a regular file in the place of a pipe, a device or a link.
Status check_replaceable(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return invalid_argument(format("{} is a folder, a file name is expected", path.native()));
  }
  switch (std::filesystem::symlink_status(path, ignored).type()) {
    case std::filesystem::file_type::symlink:
      return invalid_argument(format("{} is a symbolic link; name the file that it means", path.native()));
    case std::filesystem::file_type::block:
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::fifo:
    case std::filesystem::file_type::socket:
      return invalid_argument(format("{} is a special file, only a regular one is replaced", path.native()));
    default: return ok_status();  // what else is wrong with it, opening says
  }
}

}  // namespace

Result<AtomicFileWriter> AtomicFileWriter::create(const std::filesystem::path& path) {
  CS_RETURN_IF_ERROR(check_replaceable(path));
  std::error_code ignored;
  if (path.has_parent_path() && !std::filesystem::is_directory(path.parent_path(), ignored)) {
    return not_found(format("cannot write {}: there is no folder {}; create it first", path.native(), path.parent_path().native()));
  }
  AtomicFileWriter writer;
  writer.path_ = path;
  for (int attempt = 0; attempt < kMaxTemporaryNames; ++attempt) {
    std::filesystem::path temporary = temporary_name(path, attempt);
    writer.descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (writer.descriptor_ >= 0) {
      writer.temporary_ = std::move(temporary);
      return writer;
    }
    if (errno != EEXIST) return io_error(format("cannot create {}", temporary.native()), errno);
  }
  return failed_precondition(
      format("{} temporary files {}.tmp.* stand in the way; remove them", kMaxTemporaryNames, path.native()));
}

AtomicFileWriter::AtomicFileWriter(AtomicFileWriter&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      offset_(other.offset_) {}

AtomicFileWriter& AtomicFileWriter::operator=(AtomicFileWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(offset_, other.offset_);
  return *this;
}

AtomicFileWriter::~AtomicFileWriter() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status AtomicFileWriter::write(std::span<const std::byte> bytes) {
  CS_CHECK(descriptor_ >= 0, "write after commit");
  CS_RETURN_IF_ERROR(write_all(descriptor_, offset_, bytes, temporary_));
  offset_ += bytes.size();
  return ok_status();
}

Status AtomicFileWriter::write_at(uint64_t offset, std::span<const std::byte> bytes) {
  CS_CHECK(descriptor_ >= 0, "write_at after commit");
  CS_CHECK(offset <= offset_ && bytes.size() <= offset_ - offset, "write_at past what is written");
  return write_all(descriptor_, offset, bytes, temporary_);
}

// After an error the destructor removes the temporary file; the old file under the final name is untouched.
Status AtomicFileWriter::commit() {
  CS_CHECK(descriptor_ >= 0, "second commit");
  if (fsync(descriptor_) != 0) return io_error(format("cannot sync {}", temporary_.native()), errno);
  if (close(std::exchange(descriptor_, -1)) != 0) return io_error(format("cannot close {}", temporary_.native()), errno);
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return io_error(format("cannot rename {} to {}", temporary_.native(), path_.native()), errno);
  }
  temporary_.clear();
  return sync_folder_of(path_);
}

}  // namespace camshaft::base
