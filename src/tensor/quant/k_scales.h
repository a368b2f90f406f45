// The 12 bytes in which Q4_K and Q5_K keep eight 6-bit scales and eight 6-bit minimums.
#pragma once

#include "tensor/quant/formats.h"

namespace camshaft::tensor {

struct KScale {
  float scale;
  float minimum;
};

// Sub-blocks 0..3: the low six bits of bytes j (scale) and j + 4 (minimum). Sub-blocks 4..7: a nibble each of byte j + 4, their two
// upper bits kept on top of the bytes of sub-block j - 4.
inline KScale k_scale(const std::byte* packed, int j) {
  const auto byte = [packed](int i) { return static_cast<int>(load_u8(packed + i)); };
  if (j < 4) return {static_cast<float>(byte(j) & 63), static_cast<float>(byte(j + 4) & 63)};
  return {static_cast<float>((byte(j + 4) & 15) | byte(j - 4) >> 6 << 4), static_cast<float>(byte(j + 4) >> 4 | byte(j) >> 6 << 4)};
}

}  // namespace camshaft::tensor
