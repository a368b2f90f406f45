// The formats' functions, one file a format; inside the room only. quant/list.cc makes the table of them.
// All take n elements, a multiple of the block, and bytes of any alignment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tensor/dtype.h"

namespace camshaft::tensor {

using UnpackFunction = void(const std::byte* blocks, float* out, int64_t n);
using PackFunction = void(const float* values, std::byte* blocks, int64_t n);

UnpackFunction unpack_f32, unpack_f16, unpack_bf16, unpack_f8e4m3, unpack_f8e5m2, unpack_f64;
UnpackFunction unpack_i8, unpack_i16, unpack_i32, unpack_i64, unpack_u8, unpack_u16, unpack_u32, unpack_u64, unpack_bool;
UnpackFunction unpack_q8_0, unpack_q4_0, unpack_q4_1, unpack_q5_0, unpack_q5_1, unpack_q4_k, unpack_q5_k, unpack_q6_k;
PackFunction pack_f32, pack_f16, pack_bf16, pack_i8b32, pack_i4b32m;

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
inline uint8_t load_u8(const std::byte* from) { return std::to_integer<uint8_t>(*from); }
inline float load_f16(const std::byte* from) { return f16_to_f32(load<uint16_t>(from)); }

// To nearest even for |x| < 2^22; unlike std::nearbyint it becomes vector code on every target.
inline float round_to_even(float x) {
  constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
  return (x + kMagic) - kMagic;
}

}  // namespace camshaft::tensor
