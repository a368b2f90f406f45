#include "base/format.h"
#include "compiler/compiler.h"

namespace camshaft::compiler {
namespace {
constexpr std::string_view kNames[] = {"keep", "f32", "bf16", "int8", "int4"};
}

std::string_view precision_name(Precision precision) { return kNames[static_cast<size_t>(precision)]; }

Result<Precision> parse_precision(std::string_view name) {
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<Precision>(i);
  }
  return base::invalid_argument(format("--precision: '{}' is none of keep, f32, bf16, int8, int4", name));
}

}  // namespace camshaft::compiler
