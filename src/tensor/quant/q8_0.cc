// Q8_0: 32 elements in 34 bytes: f16 d, int8 q[32]; w = d * q.
#include "tensor/quant/formats.h"

namespace camshaft::tensor {

void unpack_q8_0(const std::byte* block, float* out, int64_t n) {
  for (int64_t b = 0; b < n / 32; ++b, block += 34, out += 32) {
    const float d = load_f16(block);
    for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(load<int8_t>(block + 2 + i));
  }
}

}  // namespace camshaft::tensor
