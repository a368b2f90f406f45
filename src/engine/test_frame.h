// For tests and the fuzzer: a valid frame (header, table, hashes) around any sections, in memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/container.h"
#include "engine/engine.h"
#include "engine/sections.h"

namespace camshaft::engine {

using Sections = std::vector<std::pair<std::string, std::vector<std::byte>>>;

// `change` may forge the header before it is encoded (and hashed).
template <typename Change>
std::vector<std::byte> frame(const Sections& sections, Change change) {
  std::vector<std::byte> file(kHeaderBytes);
  FileHeader header;
  header.format_version = kFormatVersion;
  for (const auto& [name, bytes] : sections) {
    file.resize((file.size() + kSectionAlignment - 1) / kSectionAlignment * kSectionAlignment);
    header.sections.push_back({name, file.size(), bytes.size(), section_hash(bytes)});
    file.insert(file.end(), bytes.begin(), bytes.end());
  }
  header.file_bytes = file.size();
  change(header);
  const std::vector<std::byte> encoded = encode_header(header);
  std::copy(encoded.begin(), encoded.end(), file.begin());
  return file;
}
inline std::vector<std::byte> frame(const Sections& sections) {
  return frame(sections, [](FileHeader&) {});
}

// The sections of `meta`, constants all zero. The plan's offsets are taken as they are.
inline Sections sections_of(EngineMeta meta, uint64_t constants_bytes) {
  Sections out;
  for (const SmallSection& section : small_sections()) out.emplace_back(section.name, section.write(meta));
  out.emplace_back(kConstantsSection, std::vector<std::byte>(constants_bytes));
  return out;
}

}  // namespace camshaft::engine
