// Preparing rows for the float kernels: columns of a tile's rows side by side, as they are or rounded to bf16. Included inside the
// namespace of an instruction set, after tiles.inl.h.

// To nearest even; NaN stays NaN.
inline uint32_t bf16_bits(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return (bits >> 16) | 0x40u;
  return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

// A zero follows an odd number of columns.
template <typename Convert>
inline void put_columns(const float* x, int64_t columns, std::byte* block, int r, int height, Convert convert) {
  std::byte* to = block + 4 * r;
  for (int64_t c = 0; c < columns; ++c, to += 4 * height) {
    const float value = convert(x[c]);
    __builtin_memcpy(to, &value, 4);
  }
  if (columns % 2 != 0) __builtin_memset(to, 0, 4);
}

inline void put_f32(const float* x, int64_t columns, std::byte* block, int r, int height) {
  put_columns(x, columns, block, r, height, [](float value) { return value; });
}
inline void put_rounded(const float* x, int64_t columns, std::byte* block, int r, int height) {
  put_columns(x, columns, block, r, height, [](float value) { return __builtin_bit_cast(float, bf16_bits(value) << 16); });
}
inline void put_pairs(const float* x, int64_t columns, std::byte* block, int r, int height) {
  std::byte* to = block + 4 * r;
  for (int64_t c = 0; c < columns; c += 2, to += 4 * height) {
    const uint32_t pair = bf16_bits(x[c]) | (c + 1 < columns ? bf16_bits(x[c + 1]) << 16 : 0u);
    __builtin_memcpy(to, &pair, 4);
  }
}
