// Files: mapping for reading, and writing under a temporary name that becomes the final one only when complete and synced.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/status.h"

namespace camshaft::base {

// A read-only private mapping of a whole regular file. Movable; the bytes live as long as the object.
class MappedFile {
 public:
  // Refuses directories and special files. An empty file maps to an empty span.
  static Result<MappedFile> open(const std::filesystem::path& path);
  // The same for a file that is open already; the descriptor stays the caller's, `path` is for messages.
  static Result<MappedFile> map(int descriptor, const std::filesystem::path& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }
  // Tells the kernel that this range will not be read again, so that its pages leave our resident set.
  void drop_pages(size_t offset, size_t size) const;

 private:
  std::span<const std::byte> bytes_;
  std::filesystem::path path_;
};

// Whole small file as text; `max_bytes` is refused above, by name.
Result<std::string> read_text_file(const std::filesystem::path& path, uint64_t max_bytes);

// Writes to "<path>.tmp.<pid>", fsyncs, renames on commit(), syncs the folder. Without commit() the temporary file is removed.
class AtomicFileWriter {
 public:
  static Result<AtomicFileWriter> create(const std::filesystem::path& path);

  AtomicFileWriter(AtomicFileWriter&& other) noexcept;
  AtomicFileWriter& operator=(AtomicFileWriter&& other) noexcept;
  ~AtomicFileWriter();

  Status write(std::span<const std::byte> bytes);
  // Overwrites bytes already written (a header whose hashes are known last).
  Status write_at(uint64_t offset, std::span<const std::byte> bytes);
  uint64_t bytes_written() const { return offset_; }
  Status commit();

 private:
  AtomicFileWriter() = default;
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
  uint64_t offset_ = 0;
};

}  // namespace camshaft::base
