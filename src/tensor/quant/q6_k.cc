// Q6_K: 256 elements in 210 bytes: 128 bytes of low nibbles, 64 bytes of upper bit pairs, int8 scales for every 16, f16 d;
// w = (d * scale) * (q - 32). Each half of 128 elements is four runs of 32: run r takes nibble r / 2 of byte r % 2 * 32 + i and
// bit pair r of upper byte i.
#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void unpack_q6_k(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 256; ++b, block += 210) {
    const float d = load_f16(block + 208);
    for (int run = 0; run < 8; ++run, out += 32) {
      const int half = run / 4, r = run % 4;
      const std::byte *low = block + 64 * half + r % 2 * 32, *upper = block + 128 + 32 * half, *scales = block + 192 + 2 * run;
      for (int i = 0; i < 32; ++i) {
        const int q = (load_u8(low + i) >> (r / 2 * 4) & 15) | (load_u8(upper + i) >> (2 * r) & 3) << 4;
        out[i] = d * static_cast<float>(load<int8_t>(scales + i / 16)) * static_cast<float>(q - 32);
      }
    }
  }
}

}  // namespace camshaft::tensor
