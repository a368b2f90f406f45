// Plan + packed constants > engine file.
#include <cstring>

#include "engine/container.h"
#include "engine/engine.h"
#include "engine/sections.h"

namespace camshaft::engine {
namespace {

constexpr uint64_t kConstantAlignment = 64;

uint64_t padded(uint64_t bytes) { return (bytes + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment; }

void place_constants(Plan& plan) {
  uint64_t offset = 0;
  for (ConstantEntry& entry : plan.constants) {
    entry.offset = offset;
    offset += padded(entry.bytes);
  }
}

Status write_constants(SectionWriter& writer, const Plan& plan, const ConstantFiller& fill) {
  CS_RETURN_IF_ERROR(writer.begin(std::string(kConstantsSection)));
  std::vector<std::byte> bytes;
  for (const ConstantEntry& entry : plan.constants) {
    bytes.assign(padded(entry.bytes), std::byte{0});
    CS_RETURN_IF_ERROR(fill(entry, std::span(bytes).first(entry.bytes)));
    CS_RETURN_IF_ERROR(writer.append(bytes));
  }
  return writer.end();
}

}  // namespace

Result<uint64_t> write_engine(const std::filesystem::path& path, EngineMeta meta, const ConstantFiller& fill) {
  place_constants(meta.plan);
  CS_ASSIGN_OR_RETURN(SectionWriter writer, SectionWriter::create(path));
  for (const SmallSection& section : small_sections()) {
    CS_RETURN_IF_ERROR(writer.begin(std::string(section.name)));
    CS_RETURN_IF_ERROR(writer.append(section.write(meta)));
    CS_RETURN_IF_ERROR(writer.end());
  }
  CS_RETURN_IF_ERROR(write_constants(writer, meta.plan, fill));
  return writer.commit();
}

}  // namespace camshaft::engine
