// Layouts of weight matrices: the plain rows of each format, and those that the CPU's GEMM kernels brought along.
#include "kernels/layouts.h"

#include <cstring>
#include <utility>

#include "kernels/cpu/gemm/gemm.h"

namespace camshaft::kernels {
namespace {

using tensor::Format;

template <Format kFormat>
int64_t rows_bytes(int64_t k) {
  return tensor::format_bytes(kFormat, k);
}

template <Format kFormat>
void pack_rows(const std::byte* const* rows, int64_t k, std::byte* out) {
  const auto bytes = static_cast<size_t>(rows_bytes<kFormat>(k));
  if (rows[0] == nullptr) {
    memset(out, 0, bytes);
  } else {
    memcpy(out, rows[0], bytes);
  }
}

template <Format kFormat>
void unpack_rows(const std::byte* group, int64_t, int64_t k, float* out) {
  tensor::format_info(kFormat).unpack(group, out, k);
}

template <Format kFormat>
constexpr WeightLayout rows_entry(std::string_view name) {
  return {name, kFormat, 1, rows_bytes<kFormat>, pack_rows<kFormat>, unpack_rows<kFormat>};
}

// In the order of tensor::Format; integers and f64 are no weights of an op.
constexpr WeightLayout kRows[] = {
    rows_entry<Format::kF32>("rows_f32"),       rows_entry<Format::kF16>("rows_f16"),
    rows_entry<Format::kBF16>("rows_bf16"),     rows_entry<Format::kF8E4M3>("rows_f8e4m3"),
    rows_entry<Format::kF8E5M2>("rows_f8e5m2"), rows_entry<Format::kQ8_0>("rows_q8_0"),
    rows_entry<Format::kQ4_0>("rows_q4_0"),     rows_entry<Format::kQ4_1>("rows_q4_1"),
    rows_entry<Format::kQ5_0>("rows_q5_0"),     rows_entry<Format::kQ5_1>("rows_q5_1"),
    rows_entry<Format::kQ4_K>("rows_q4_k"),     rows_entry<Format::kQ5_K>("rows_q5_k"),
    rows_entry<Format::kQ6_K>("rows_q6_k"),     rows_entry<Format::kI8B32>("rows_i8b32"),
    rows_entry<Format::kI4B32M>("rows_i4b32m"),
};

std::vector<WeightLayout> every_layout() {
  std::vector<WeightLayout> layouts(std::begin(kRows), std::end(kRows));
  const std::span<const WeightLayout> gemm = gemm_layouts();
  layouts.insert(layouts.end(), gemm.begin(), gemm.end());
  return layouts;
}

}  // namespace

int64_t packed_bytes(const WeightLayout& layout, int64_t n, int64_t k) {
  return (n + layout.row_group - 1) / layout.row_group * layout.group_bytes(k);
}

const WeightLayout* rows_layout(Format format) {
  for (const WeightLayout& layout : kRows) {
    if (layout.format == format) return &layout;
  }
  return nullptr;
}

const WeightLayout* find_layout(std::string_view name) {
  for (const WeightLayout& layout : all_layouts()) {
    if (layout.name == name) return &layout;
  }
  return nullptr;
}

std::span<const WeightLayout> all_layouts() {
  static const std::vector<WeightLayout> layouts = every_layout();
  return layouts;
}

}  // namespace camshaft::kernels
