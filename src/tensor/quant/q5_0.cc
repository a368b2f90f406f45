// Q5_0: 32 elements in 22 bytes: f16 d, u32 of fifth bits (bit i for element i), 16 bytes of nibbles as in Q4_0; w = d * (q - 16).
#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void unpack_q5_0(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, block += 22, out += 32) {
    const float d = load_f16(block);
    const uint32_t fifth = load<uint32_t>(block + 2);
    for (int i = 0; i < 16; ++i) {
      const int nibbles = load_u8(block + 6 + i);
      const int low = (nibbles & 15) | static_cast<int>(fifth >> i & 1) << 4;
      const int high = nibbles >> 4 | static_cast<int>(fifth >> (i + 16) & 1) << 4;
      out[i] = d * static_cast<float>(low - 16);
      out[i + 16] = d * static_cast<float>(high - 16);
    }
  }
}

}  // namespace camshaft::tensor
