// Q4_0: 32 elements in 18 bytes: f16 d, 16 bytes of nibbles; w = d * (q - 8). Low nibbles are elements 0..15, high 16..31.
#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void unpack_q4_0(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, block += 18, out += 32) {
    const float d = load_f16(block);
    for (int i = 0; i < 16; ++i) {
      const int q = load_u8(block + 2 + i);
      out[i] = d * static_cast<float>((q & 15) - 8);
      out[i + 16] = d * static_cast<float>((q >> 4) - 8);
    }
  }
}

}  // namespace camshaft::tensor
