// I4B32M, ours: the bytes of Q4_1. m = min and d = (max - min) / 15 as f16, q rounded with the f16 values. Values must be finite.
// The error bound, relative to max - min, holds where d is a normal half and |min| is at most 60 times the range: then m's own
// rounding stays below half a step.
#include <algorithm>

#include "tensor/quant/formats.h"

namespace camshaft::tensor {
namespace {

uint16_t finite_f16(float value) { return f32_to_f16(std::clamp(value, -65504.0f, 65504.0f)); }

}  // namespace

void pack_i4b32m(const float* values, std::byte* block, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, values += 32, block += 20) {
    float low = values[0], high = values[0];
    for (int i = 1; i < 32; ++i) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    const uint16_t d_bits = finite_f16((high - low) / 15.0f), m_bits = finite_f16(low);
    const float d = f16_to_f32(d_bits), m = f16_to_f32(m_bits);
    uint8_t q[32] = {};
    if (d > 0) {
      for (int i = 0; i < 32; ++i) q[i] = static_cast<uint8_t>(round_to_even(std::clamp((values[i] - m) / d, 0.0f, 15.0f)));
    }
    std::memcpy(block, &d_bits, 2);
    std::memcpy(block + 2, &m_bits, 2);
    for (int i = 0; i < 16; ++i) block[4 + i] = static_cast<std::byte>(q[i] | q[i + 16] << 4);
  }
}

}  // namespace camshaft::tensor
