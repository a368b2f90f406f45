// Sizes and names of element types; conversions of small floats, all to nearest even.
#include "tensor/dtype.h"

#include <bit>

namespace camshaft::tensor {

int dtype_size(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kI8:
    case DType::kU8:
    case DType::kBool: return 1;
    case DType::kF16:
    case DType::kBF16:
    case DType::kI16:
    case DType::kU16: return 2;
    case DType::kF32:
    case DType::kI32:
    case DType::kU32: return 4;
    case DType::kF64:
    case DType::kI64:
    case DType::kU64: return 8;
  }
  return 0;
}

std::string_view dtype_name(DType dtype) {
  switch (dtype) {
    case DType::kF32: return "f32";
    case DType::kF16: return "f16";
    case DType::kBF16: return "bf16";
    case DType::kF64: return "f64";
    case DType::kF8E4M3: return "f8e4m3";
    case DType::kF8E5M2: return "f8e5m2";
    case DType::kI8: return "i8";
    case DType::kI16: return "i16";
    case DType::kI32: return "i32";
    case DType::kI64: return "i64";
    case DType::kU8: return "u8";
    case DType::kU16: return "u16";
    case DType::kU32: return "u32";
    case DType::kU64: return "u64";
    case DType::kBool: return "bool";
  }
  return "unknown";
}

float f16_to_f32(uint16_t bits) {
  constexpr uint32_t kExponent = 0x0f800000, kRebias = 112u << 23;
  uint32_t magnitude = (bits & 0x7fffu) << 13;
  const uint32_t exponent = magnitude & kExponent;
  magnitude += kRebias;
  if (exponent == kExponent) {  // infinity or NaN
    magnitude += kRebias;
  } else if (exponent == 0) {  // subnormal: let the subtraction normalise it
    magnitude = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude + (1u << 23)) - std::bit_cast<float>(113u << 23));
  }
  return std::bit_cast<float>(magnitude | (bits & 0x8000u) << 16);
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);  // 65536 and above
  if (magnitude < 0x38800000u) {
    // Below 2^-14. 0.5f has the smallest half as its unit in the last place, so the addition rounds to it.
    const uint32_t rounded = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f);
    return static_cast<uint16_t>(sign | (rounded - std::bit_cast<uint32_t>(0.5f)));
  }
  magnitude += 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<uint16_t>(sign | (magnitude - (112u << 23)) >> 13);
}

uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

float f8e4m3_to_f32(uint8_t bits) {
  // The "fn" variant of the OCP 8-bit specification: no infinities, only all-ones is NaN.
  const uint32_t sign = (bits & 0x80u) << 24;
  const uint32_t exponent = bits >> 3 & 0xfu, mantissa = bits & 7u;
  if (exponent == 0xf && mantissa == 7) return std::bit_cast<float>(sign | 0x7fc00000u);
  if (exponent == 0) return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(static_cast<float>(mantissa) * 0x1p-9f));
  return std::bit_cast<float>(sign | (exponent + 120) << 23 | mantissa << 20);
}

// The upper byte of an IEEE half.
float f8e5m2_to_f32(uint8_t bits) { return f16_to_f32(static_cast<uint16_t>(bits << 8)); }

}  // namespace camshaft::tensor
