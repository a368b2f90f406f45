// Q5_1: 32 elements in 24 bytes: f16 d, f16 m, u32 of fifth bits (bit i for element i), 16 bytes of nibbles; w = d * q + m.
#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void unpack_q5_1(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, block += 24, out += 32) {
    const float d = load_f16(block), m = load_f16(block + 2);
    const uint32_t fifth = load<uint32_t>(block + 4);
    for (int i = 0; i < 16; ++i) {
      const int nibbles = load_u8(block + 8 + i);
      const int low = (nibbles & 15) | static_cast<int>(fifth >> i & 1) << 4;
      const int high = nibbles >> 4 | static_cast<int>(fifth >> (i + 16) & 1) << 4;
      out[i] = d * static_cast<float>(low) + m;
      out[i + 16] = d * static_cast<float>(high) + m;
    }
  }
}

}  // namespace camshaft::tensor
