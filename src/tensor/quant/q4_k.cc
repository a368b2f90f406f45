// Q4_K: 256 elements in 144 bytes: f16 d, f16 dmin, 12 bytes of scales, 128 bytes of nibbles; w = (d * scale) * q - dmin * minimum
// with a scale and a minimum for every 32. Each 32 bytes hold 64 elements: low nibbles the first half, high the second.
#include "tensor/quant/k_scales.h"

namespace camshaft::tensor {

void unpack_q4_k(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 256; ++b, block += 144) {
    const float d = load_f16(block), d_minimum = load_f16(block + 2);
    for (int j = 0; j < 8; ++j, out += 32) {
      const KScale k = k_scale(block + 4, j);
      const float scale = d * k.scale, minimum = d_minimum * k.minimum;
      const std::byte* nibbles = block + 16 + 32 * (j / 2);
      const int shift = j % 2 * 4;
      for (int i = 0; i < 32; ++i) out[i] = scale * static_cast<float>(load_u8(nibbles + i) >> shift & 15) - minimum;
    }
  }
}

}  // namespace camshaft::tensor
