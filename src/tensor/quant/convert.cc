#include "tensor/quant/convert.h"

#include <cstring>

namespace camshaft::tensor {
namespace {

// Q4_0: f16 d, 16 bytes of nibbles, w = d * (q - 8). I4B32M: f16 d, f16 m, the same nibbles, w = d * q + m: m = -8 d, which f16
// holds exactly unless it overflows.
void q4_0_to_i4b32m(const std::byte* in, std::byte* out, int64_t n) {
  for (int64_t block = 0; block < n / 32; ++block, in += 18, out += 20) {
    uint16_t d;
    std::memcpy(&d, in, 2);
    const uint16_t m = f32_to_f16(-8.0f * f16_to_f32(d));
    std::memcpy(out, &d, 2);
    std::memcpy(out + 2, &m, 2);
    std::memcpy(out + 4, in + 2, 16);
  }
}

// Q5_0: f16 d, 32 high bits, 16 bytes of nibbles, w = d * (q - 16), so q - 16 fits I8B32's byte.
void q5_0_to_i8b32(const std::byte* in, std::byte* out, int64_t n) {
  for (int64_t block = 0; block < n / 32; ++block, in += 22, out += 34) {
    uint32_t high;
    std::memcpy(out, in, 2);
    std::memcpy(&high, in + 2, 4);
    for (uint32_t i = 0; i < 32; ++i) {
      const auto byte = std::to_integer<uint32_t>(in[6 + i % 16]);
      const uint32_t q = (i < 16 ? byte & 15 : byte >> 4) | ((high >> i & 1) << 4);
      out[2 + i] = static_cast<std::byte>(static_cast<int8_t>(static_cast<int32_t>(q) - 16));
    }
  }
}

using Converter = void (*)(const std::byte* in, std::byte* out, int64_t n);

Converter exact_converter(Format from, Format to) {
  if (from == Format::kQ4_0 && to == Format::kI4B32M) return q4_0_to_i4b32m;
  if (from == Format::kQ5_0 && to == Format::kI8B32) return q5_0_to_i8b32;
  return nullptr;
}

}  // namespace

bool same_bytes(Format from, Format to) {
  return from == to || (from == Format::kQ8_0 && to == Format::kI8B32) || (from == Format::kQ4_1 && to == Format::kI4B32M);
}

bool converts_exactly(Format from, Format to) {
  return same_bytes(from, to) || to == Format::kF32 || exact_converter(from, to) != nullptr;
}

void convert_row(Format from, const std::byte* in, Format to, std::byte* out, int64_t n, float* scratch) {
  if (same_bytes(from, to)) {
    std::memcpy(out, in, static_cast<size_t>(format_bytes(from, n)));
  } else if (const Converter exact = exact_converter(from, to)) {
    exact(in, out, n);
  } else {
    format_info(from).unpack(in, scratch, n);
    format_info(to).pack(scratch, out, n);
  }
}

}  // namespace camshaft::tensor
