// I8B32, ours: the bytes of Q8_0. d = amax / 127 as f16, and q is rounded with the f16 value, so q * d is the nearest there is.
// Values must be finite. The error bound holds where d is a normal half (amax >= 127 * 2^-14).
#include <algorithm>
#include <cmath>

#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void pack_i8b32(const float* values, std::byte* block, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, values += 32, block += 34) {
    float amax = 0;
    for (int i = 0; i < 32; ++i) amax = std::max(amax, std::fabs(values[i]));
    const uint16_t d_bits = f32_to_f16(std::min(amax / 127.0f, 65504.0f));
    const float d = f16_to_f32(d_bits);
    int8_t q[32] = {};
    if (d > 0) {
      for (int i = 0; i < 32; ++i) q[i] = static_cast<int8_t>(round_to_even(std::clamp(values[i] / d, -127.0f, 127.0f)));
    }
    std::memcpy(block, &d_bits, 2);
    std::memcpy(block + 2, q, 32);
  }
}

}  // namespace camshaft::tensor
