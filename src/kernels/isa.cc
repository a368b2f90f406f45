// ISA classes from cpuid and xgetbv: a feature counts only where the operating system saves the registers it needs.
#include "kernels/isa.h"

#include <cpuid.h>

#include <array>

#include "base/format.h"

namespace camshaft::kernels {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"generic", "avx2", "avx512", "avx512vnni", "avx512bf16"};

enum class Register : uint8_t { kEbx, kEcx, kEax };

// Where cpuid says whether a feature is there, and the class that needs it first.
struct Feature {
  const char* name;
  Isa needed_by;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  int bit;
};

constexpr Feature kFeatures[] = {
    {"avx2", Isa::kAvx2, 7, 0, Register::kEbx, 5},
    {"fma", Isa::kAvx2, 1, 0, Register::kEcx, 12},
    {"f16c", Isa::kAvx2, 1, 0, Register::kEcx, 29},
    {"avx512f", Isa::kAvx512, 7, 0, Register::kEbx, 16},
    {"avx512bw", Isa::kAvx512, 7, 0, Register::kEbx, 30},
    {"avx512vl", Isa::kAvx512, 7, 0, Register::kEbx, 31},
    {"avx512dq", Isa::kAvx512, 7, 0, Register::kEbx, 17},
    {"avx512vnni", Isa::kAvx512Vnni, 7, 0, Register::kEcx, 11},
    {"avx512bf16", Isa::kAvx512Bf16, 7, 1, Register::kEax, 5},
};

constexpr uint64_t kSavedAvx = 0x6;      // xmm, ymm
constexpr uint64_t kSavedAvx512 = 0xe6;  // and mask registers, both halves of zmm

// The register sets that the operating system saves (XCR0); 0 where it does not say.
uint64_t saved_state() {
  uint32_t eax, ebx, ecx, edx;
  constexpr uint32_t kOsxsave = 1u << 27;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsxsave) == 0) return 0;
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

bool machine_has(const Feature& feature) {
  const uint64_t needed = feature.needed_by >= Isa::kAvx512 ? kSavedAvx512 : kSavedAvx;
  if ((saved_state() & needed) != needed) return false;
  uint32_t eax, ebx, ecx, edx;
  if (__get_cpuid_count(feature.leaf, feature.subleaf, &eax, &ebx, &ecx, &edx) == 0) return false;
  const uint32_t word = feature.reg == Register::kEbx ? ebx : feature.reg == Register::kEcx ? ecx : eax;
  return (word >> feature.bit & 1) != 0;
}

}  // namespace

std::string_view isa_name(Isa isa) { return kNames[static_cast<size_t>(isa)]; }

Result<Isa> parse_isa(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Isa>(i);
  }
  return base::invalid_argument(format("ISA class '{}' is unknown: one of generic, avx2, avx512, avx512vnni, avx512bf16", name));
}

Isa detect_isa() {
  auto isa = Isa::kAvx512Bf16;
  while (!missing_features(isa).empty()) isa = static_cast<Isa>(static_cast<int>(isa) - 1);
  return isa;
}

std::vector<std::string> isa_features(Isa isa) {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    if (feature.needed_by <= isa) names.emplace_back(feature.name);
  }
  return names;
}

std::vector<std::string> machine_features() {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    if (machine_has(feature)) names.emplace_back(feature.name);
  }
  return names;
}

std::vector<std::string> missing_features(Isa isa) {
  std::vector<std::string> names;
  for (const Feature& feature : kFeatures) {
    if (feature.needed_by <= isa && !machine_has(feature)) names.emplace_back(feature.name);
  }
  return names;
}

}  // namespace camshaft::kernels
