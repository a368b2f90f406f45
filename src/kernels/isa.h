// ISA classes of the CPU: what an engine is bound to. Each class includes the ones before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace camshaft::kernels {

enum class Isa : uint8_t { kGeneric, kAvx2, kAvx512, kAvx512Vnni, kAvx512Bf16 };
std::string_view isa_name(Isa isa);  // "generic", "avx2", "avx512", "avx512vnni", "avx512bf16"
Result<Isa> parse_isa(std::string_view name);
// Best class this machine can run (cpuid and the operating system's saved state).
Isa detect_isa();
// CPU features a class needs, for the engine's header and for refusals: {"avx2", "fma", "f16c"}...
std::vector<std::string> isa_features(Isa isa);
// Every one of the features above that this machine has.
std::vector<std::string> machine_features();
// Those of `isa_features` that this machine lacks.
std::vector<std::string> missing_features(Isa isa);

}  // namespace camshaft::kernels
