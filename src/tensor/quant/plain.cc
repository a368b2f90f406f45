// Plain element types as formats of block 1: floats exact, 64-bit types rounded to f32.
#include "tensor/quant/formats.h"

namespace camshaft::tensor {
namespace {

template <typename T, typename Convert>
void unpack_each(const std::byte* from, float* out, int64_t n, Convert convert) {
  for (int64_t i = 0; i < n; ++i) out[i] = convert(load<T>(from + i * static_cast<int64_t>(sizeof(T))));
}

template <typename T>
void unpack_number(const std::byte* from, float* out, int64_t n) {
  unpack_each<T>(from, out, n, [](T value) { return static_cast<float>(value); });
}

template <typename Convert>
void pack_16(const float* values, std::byte* out, int64_t n, Convert convert) {
  for (int64_t i = 0; i < n; ++i) {
    const uint16_t bits = convert(values[i]);
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

}  // namespace

void unpack_f32(const std::byte* from, float* out, int64_t n) {
  if (n > 0) std::memcpy(out, from, static_cast<size_t>(n) * sizeof(float));
}
void unpack_f16(const std::byte* from, float* out, int64_t n) { unpack_each<uint16_t>(from, out, n, f16_to_f32); }
void unpack_bf16(const std::byte* from, float* out, int64_t n) { unpack_each<uint16_t>(from, out, n, bf16_to_f32); }
void unpack_f8e4m3(const std::byte* from, float* out, int64_t n) { unpack_each<uint8_t>(from, out, n, f8e4m3_to_f32); }
void unpack_f8e5m2(const std::byte* from, float* out, int64_t n) { unpack_each<uint8_t>(from, out, n, f8e5m2_to_f32); }
void unpack_f64(const std::byte* from, float* out, int64_t n) { unpack_number<double>(from, out, n); }
void unpack_i8(const std::byte* from, float* out, int64_t n) { unpack_number<int8_t>(from, out, n); }
void unpack_i16(const std::byte* from, float* out, int64_t n) { unpack_number<int16_t>(from, out, n); }
void unpack_i32(const std::byte* from, float* out, int64_t n) { unpack_number<int32_t>(from, out, n); }
void unpack_i64(const std::byte* from, float* out, int64_t n) { unpack_number<int64_t>(from, out, n); }
void unpack_u8(const std::byte* from, float* out, int64_t n) { unpack_number<uint8_t>(from, out, n); }
void unpack_u16(const std::byte* from, float* out, int64_t n) { unpack_number<uint16_t>(from, out, n); }
void unpack_u32(const std::byte* from, float* out, int64_t n) { unpack_number<uint32_t>(from, out, n); }
void unpack_u64(const std::byte* from, float* out, int64_t n) { unpack_number<uint64_t>(from, out, n); }
void unpack_bool(const std::byte* from, float* out, int64_t n) {
  unpack_each<uint8_t>(from, out, n, [](uint8_t value) { return value != 0 ? 1.0f : 0.0f; });
}

void pack_f32(const float* values, std::byte* out, int64_t n) {
  if (n > 0) std::memcpy(out, values, static_cast<size_t>(n) * sizeof(float));
}
void pack_f16(const float* values, std::byte* out, int64_t n) { pack_16(values, out, n, f32_to_f16); }
void pack_bf16(const float* values, std::byte* out, int64_t n) { pack_16(values, out, n, f32_to_bf16); }

}  // namespace camshaft::tensor
