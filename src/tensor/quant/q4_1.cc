// Q4_1: 32 elements in 20 bytes: f16 d, f16 m, 16 bytes of nibbles; w = d * q + m. Low nibbles are elements 0..15, high 16..31.
#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void unpack_q4_1(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, block += 20, out += 32) {
    const float d = load_f16(block), m = load_f16(block + 2);
    for (int i = 0; i < 16; ++i) {
      const int q = load_u8(block + 4 + i);
      out[i] = d * static_cast<float>(q & 15) + m;
      out[i + 16] = d * static_cast<float>(q >> 4) + m;
    }
  }
}

}  // namespace camshaft::tensor
