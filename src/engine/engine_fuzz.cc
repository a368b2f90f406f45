// Any bytes as the small sections of an engine file, inside a frame whose table and hashes are right: nothing but the readers and
// the plan's checks stands between them and a runner. Input: for each section a little-endian u32 size and its bytes; what is left
// decides the size of the constants. An input that begins like an engine file is read as one.
#include <cstdint>
#include <cstring>

#include "base/hash.h"
#include "engine/test_frame.h"

namespace {

using namespace camshaft::engine;

std::vector<std::byte> framed(std::span<const std::byte> input) {
  Sections sections;
  for (const SmallSection& section : small_sections()) {
    uint32_t size = 0;
    if (input.size() >= 4) {
      std::memcpy(&size, input.data(), 4);
      input = input.subspan(4);
    }
    const auto bytes = input.first(std::min<size_t>(size, input.size()));
    sections.emplace_back(section.name, std::vector<std::byte>(bytes.begin(), bytes.end()));
    input = input.subspan(bytes.size());
  }
  sections.emplace_back(kConstantsSection, std::vector<std::byte>(input.size() % 64 * 256));
  return frame(sections);
}

void read_all(std::span<const std::byte> file) {
  const auto meta = read_engine_meta(file);
  if (!meta.ok()) {
    CS_CHECK(!meta.status().message().empty() && meta.status().code() != camshaft::Code::kInternal, meta.status().to_string());
    return;
  }
  (void)plan_to_json(meta->plan).dump();
  (void)check_target(meta->fingerprint, {});
  // What was read writes the same sections again.
  EngineMeta copy = *meta;
  for (const SmallSection& section : small_sections()) {
    EngineMeta again;
    CS_CHECK(section.read(section.write(copy), again).ok(), section.name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  constexpr char kMagic[] = "CAMSHAFT";
  if (size >= 8 && std::memcmp(data, kMagic, 8) == 0) {
    read_all(bytes);
  } else {
    read_all(framed(bytes));
  }
  return 0;
}
