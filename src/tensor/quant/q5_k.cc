// Q5_K: 256 elements in 176 bytes: f16 d, f16 dmin, 12 bytes of scales, 32 bytes of fifth bits (bit j of byte i for element i of
// sub-block j), 128 bytes of nibbles as in Q4_K; w = (d * scale) * q - dmin * minimum.
#include "tensor/quant/k_scales.h"

namespace camshaft::tensor {

void unpack_q5_k(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 256; ++b, block += 176) {
    const float d = load_f16(block), d_minimum = load_f16(block + 2);
    for (int j = 0; j < 8; ++j, out += 32) {
      const KScale k = k_scale(block + 4, j);
      const float scale = d * k.scale, minimum = d_minimum * k.minimum;
      const std::byte *fifth = block + 16, *nibbles = block + 48 + 32 * (j / 2);
      const int shift = j % 2 * 4;
      for (int i = 0; i < 32; ++i) {
        const int q = (load_u8(nibbles + i) >> shift & 15) | (load_u8(fifth + i) >> j & 1) << 4;
        out[i] = scale * static_cast<float>(q) - minimum;
      }
    }
  }
}

}  // namespace camshaft::tensor
