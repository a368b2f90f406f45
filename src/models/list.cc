// The list of model families.
#include <array>

#include "base/format.h"
#include "models/families.h"

namespace camshaft::models {
namespace {

std::string architecture_found(const checkpoint::Checkpoint& checkpoint) {
  const bool gguf = checkpoint.source() == checkpoint::Source::kGguf;
  const char* key = gguf ? "general.architecture" : "model_type";
  const Json* value = checkpoint.config().find(key);
  if (value == nullptr || !value->is_string()) return format("no {}", key);
  return format("{} '{}'", key, value->as_string());
}

}  // namespace

std::span<const ModelFamily> model_families() {
  static const std::array families = {kLlama, kQwen2};
  return families;
}

Result<const ModelFamily*> find_family(const checkpoint::Checkpoint& checkpoint) {
  std::string known;
  for (const ModelFamily& family : model_families()) {
    if (family.matches(checkpoint)) return &family;
    known += (known.empty() ? "" : ", ") + std::string(family.name);
  }
  return base::unimplemented(
      format("{} says {}; the families that can be built are: {}", checkpoint.name(), architecture_found(checkpoint), known));
}

}  // namespace camshaft::models
