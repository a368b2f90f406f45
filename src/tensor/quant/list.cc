// The table of formats, in the order of enum Format.
#include "base/format.h"
#include "tensor/quant/formats.h"
#include "tensor/quant_format.h"

namespace camshaft::tensor {
namespace {

// Half a unit in the last place of the format's significand.
constexpr float kHalfError = 0x1p-11f, kBf16Error = 0x1p-8f;
// Half a step, the step widened by its rounding to f16.
constexpr float kI8Error = (1.0f + 0x1p-10f) / 254.0f, kI4Error = (1.0f + 0x1p-10f) / 30.0f;

constexpr FormatInfo kFormats[] = {
    // format, name, elements a block, bytes a block, unpack, pack, relative error bound
    {Format::kF32, "f32", 1, 4, unpack_f32, pack_f32, 0},
    {Format::kF16, "f16", 1, 2, unpack_f16, pack_f16, kHalfError},
    {Format::kBF16, "bf16", 1, 2, unpack_bf16, pack_bf16, kBf16Error},
    {Format::kF8E4M3, "f8e4m3", 1, 1, unpack_f8e4m3, nullptr, 0},
    {Format::kF8E5M2, "f8e5m2", 1, 1, unpack_f8e5m2, nullptr, 0},
    {Format::kQ8_0, "q8_0", 32, 34, unpack_q8_0, nullptr, 0},
    {Format::kQ4_0, "q4_0", 32, 18, unpack_q4_0, nullptr, 0},
    {Format::kQ4_1, "q4_1", 32, 20, unpack_q4_1, nullptr, 0},
    {Format::kQ5_0, "q5_0", 32, 22, unpack_q5_0, nullptr, 0},
    {Format::kQ5_1, "q5_1", 32, 24, unpack_q5_1, nullptr, 0},
    {Format::kQ4_K, "q4_k", 256, 144, unpack_q4_k, nullptr, 0},
    {Format::kQ5_K, "q5_k", 256, 176, unpack_q5_k, nullptr, 0},
    {Format::kQ6_K, "q6_k", 256, 210, unpack_q6_k, nullptr, 0},
    {Format::kI8B32, "i8b32", 32, 34, unpack_q8_0, pack_i8b32, kI8Error},
    {Format::kI4B32M, "i4b32m", 32, 20, unpack_q4_1, pack_i4b32m, kI4Error},
    {Format::kF64, "f64", 1, 8, unpack_f64, nullptr, 0},
    {Format::kI8, "i8", 1, 1, unpack_i8, nullptr, 0},
    {Format::kI16, "i16", 1, 2, unpack_i16, nullptr, 0},
    {Format::kI32, "i32", 1, 4, unpack_i32, nullptr, 0},
    {Format::kI64, "i64", 1, 8, unpack_i64, nullptr, 0},
    {Format::kU8, "u8", 1, 1, unpack_u8, nullptr, 0},
    {Format::kU16, "u16", 1, 2, unpack_u16, nullptr, 0},
    {Format::kU32, "u32", 1, 4, unpack_u32, nullptr, 0},
    {Format::kU64, "u64", 1, 8, unpack_u64, nullptr, 0},
    {Format::kBool, "bool", 1, 1, unpack_bool, nullptr, 0},
};

std::string known_names() {
  std::string names;
  for (const FormatInfo& info : kFormats) names.append(names.empty() ? "" : ", ").append(info.name);
  return names;
}

}  // namespace

std::span<const FormatInfo> all_formats() { return kFormats; }

const FormatInfo& format_info(Format format) {
  const auto index = static_cast<size_t>(format);
  CS_CHECK(index < std::size(kFormats), base::format("format number {} is not in the list", index));
  return kFormats[index];
}

Result<Format> parse_format(std::string_view name) {
  for (const FormatInfo& info : kFormats) {
    if (info.name == name) return info.format;
  }
  return base::invalid_argument(base::format("'{}' is no tensor format; known are {}", name, known_names()));
}

int64_t format_bytes(Format format, int64_t elements) {
  const FormatInfo& info = format_info(format);
  CS_CHECK(elements % info.block_elements == 0,
           base::format("{} elements are no whole blocks of {} ({})", elements, info.name, info.block_elements));
  return elements / info.block_elements * info.block_bytes;
}

}  // namespace camshaft::tensor
