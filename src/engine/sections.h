// The small sections of an engine file as bytes: info, plan, tokenizer, prompt.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace camshaft::engine {

struct SmallSection {
  std::string_view name;
  std::vector<std::byte> (*write)(EngineMeta& meta);
  Status (*read)(std::span<const std::byte> bytes, EngineMeta& meta);
};
// In file order; the section "constants" follows them.
std::span<const SmallSection> small_sections();
inline constexpr std::string_view kConstantsSection = "constants";

// Indices, offsets, sizes and names of a plan that came from a file are consistent (a flipped but re-hashed file is no way in).
Status check_plan(const Plan& plan, uint64_t constants_bytes);

}  // namespace camshaft::engine
