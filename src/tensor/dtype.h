// Element types of plain tensors, and the 16- and 8-bit floats as bit patterns with exact conversions.
#pragma once

#include <cstdint>
#include <string_view>

namespace camshaft::tensor {

enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kF64,
  kF8E4M3,
  kF8E5M2,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
};

// Bytes of one element.
int dtype_size(DType dtype);
std::string_view dtype_name(DType dtype);  // "f32", "bf16", ...

// IEEE half and bfloat16, round to nearest even; NaN stays NaN.
float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
inline float bf16_to_f32(uint16_t bits) { return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16); }
uint16_t f32_to_bf16(float value);
float f8e4m3_to_f32(uint8_t bits);
float f8e5m2_to_f32(uint8_t bits);

}  // namespace camshaft::tensor
