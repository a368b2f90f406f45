// The file's frame: header, section table, chunked hashes. Knows nothing of what sections mean.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "base/status.h"

namespace camshaft::engine {

inline constexpr uint64_t kHeaderBytes = 4096;
inline constexpr uint64_t kSectionAlignment = 4096;
inline constexpr uint64_t kHashChunk = uint64_t{4} << 20;

struct SectionEntry {
  std::string name;  // at most 15 characters
  uint64_t offset = 0;
  uint64_t size = 0;
  base::Hash128 hash;
};

struct FileHeader {
  uint32_t format_version = 0;
  uint64_t file_bytes = 0;
  std::vector<SectionEntry> sections;
};

// The table must fit the header: a handful of sections.
std::vector<std::byte> encode_header(const FileHeader& header);
// Checks magic, version, hash, sizes, order and overlaps against `actual_file_bytes`.
Result<FileHeader> decode_header(std::span<const std::byte> bytes, uint64_t actual_file_bytes);
// not_found-like data_loss when the name is missing.
Result<SectionEntry> find_section(const FileHeader& header, std::string_view name);

// Hash of a section: hash128 over the hash128s of its chunks.
base::Hash128 combine_chunk_hashes(std::span<const base::Hash128> chunks);
base::Hash128 section_hash(std::span<const std::byte> bytes);
Status check_hash(const SectionEntry& entry, const base::Hash128& found);

// Appends sections one after the other to a file that gets its name when commit() succeeds.
class SectionWriter {
 public:
  static Result<SectionWriter> create(const std::filesystem::path& path);
  Status begin(std::string name);
  Status append(std::span<const std::byte> bytes);
  Status end();
  // Writes the header; returns the file's bytes.
  Result<uint64_t> commit();

 private:
  explicit SectionWriter(base::AtomicFileWriter file) : file_(std::move(file)) {}
  void close_chunk();

  base::AtomicFileWriter file_;
  FileHeader header_;
  base::Hasher chunk_;
  uint64_t chunk_bytes_ = 0;
  std::vector<base::Hash128> chunks_;
};

}  // namespace camshaft::engine
