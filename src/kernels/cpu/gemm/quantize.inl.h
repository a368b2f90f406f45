// Quantising rows of x in blocks of 32 for the integer kernels. Included inside the namespace of an instruction set, after
// lanes_*.inl.h and tiles.inl.h.
//
// Exactly as ops/op.h defines i8b32 and i16b32: d = amax / limit and q = round(x / d), the quotient correctly rounded. A block
// whose values are not all finite gets a d that is not, so that the outputs are not either.

inline constexpr int kBlockVectors = 32 / Lanes::kCount;

struct BlockScale {
  float d;
  bool plain;  // far from overflow and underflow: quotients may be had by multiplying
};

inline BlockScale block_scale(const Lanes::F (&x)[kBlockVectors], float limit) {
  const Lanes::I magnitude = Lanes::int_set(0x7FFFFFFF);
  Lanes::I most = Lanes::int_and(Lanes::as_ints(x[0]), magnitude);
  for (int i = 1; i < kBlockVectors; ++i) most = Lanes::int_max(most, Lanes::int_and(Lanes::as_ints(x[i]), magnitude));
  const float d = __builtin_bit_cast(float, Lanes::max_of(most)) / limit;
  return {d, d > 0x1p-100f && d < 0x1p100f};
}

// x / d correctly rounded: two corrections of x * (1 / d), the first makes it faithful, the second correct (Markstein).
inline Lanes::F quotient(Lanes::F x, Lanes::F d, Lanes::F inverse) {
  Lanes::F q = Lanes::mul(x, inverse);
  q = Lanes::fma(Lanes::fnma(q, d, x), inverse, q);
  return Lanes::fma(Lanes::fnma(q, d, x), inverse, q);
}

inline void rounded_quotients(const Lanes::F (&x)[kBlockVectors], BlockScale scale, float limit, Lanes::F (&q)[kBlockVectors]) {
  const Lanes::F d = Lanes::set(scale.d);
  if (scale.plain) [[likely]] {
    const Lanes::F inverse = Lanes::set(1.0f / scale.d);
    for (int i = 0; i < kBlockVectors; ++i) q[i] = quotient(x[i], d, inverse);
  } else {
    for (int i = 0; i < kBlockVectors; ++i) {
      const Lanes::F y = scale.d == 0 ? Lanes::zero() : Lanes::div(x[i], d);
      q[i] = Lanes::min(Lanes::max(y, Lanes::set(-limit)), Lanes::set(limit));
    }
  }
}

inline void load_block(const float* x, Lanes::F (&out)[kBlockVectors]) {
  for (int i = 0; i < kBlockVectors; ++i) out[i] = Lanes::load(x + i * Lanes::kCount);
}

inline void put_float(std::byte* to, float value) { __builtin_memcpy(to, &value, 4); }
inline void put_int(std::byte* to, int32_t value) { __builtin_memcpy(to, &value, 4); }

inline void quantize_i8(const float* from, int64_t, std::byte* block, int r, int height) {
  Lanes::F x[kBlockVectors], y[kBlockVectors];
  load_block(from, x);
  const BlockScale scale = block_scale(x, 127.0f);
  rounded_quotients(x, scale, 127.0f, y);
  Lanes::I sums = Lanes::int_zero();
  for (int i = 0; i < kBlockVectors; ++i) {
    const Lanes::I q = Lanes::to_ints(y[i]);
    sums = Lanes::int_add(sums, q);
    Lanes::store_bytes(block + 32 * r + i * Lanes::kCount, q);
  }
  const int32_t sum = Lanes::sum_of(sums);
  std::byte* scales = block + 32 * height + 4 * r;
  put_float(scales, scale.d);
  put_float(scales + 4 * height, scale.d * static_cast<float>(sum));
  put_int(scales + 8 * height, -128 * sum);
}

// q = 254 * hi + lo. The factor is a little below 1 / 254, so that 32385 / 254 = 127.5 goes to 127.
inline void quantize_i16(const float* from, int64_t, std::byte* block, int r, int height) {
  Lanes::F x[kBlockVectors], y[kBlockVectors];
  load_block(from, x);
  const BlockScale scale = block_scale(x, 32385.0f);
  rounded_quotients(x, scale, 32385.0f, y);
  Lanes::I sums_hi = Lanes::int_zero(), sums_lo = Lanes::int_zero();
  for (int i = 0; i < kBlockVectors; ++i) {
    const Lanes::I q = Lanes::to_ints(y[i]);
    const Lanes::I hi = Lanes::to_ints(Lanes::mul(Lanes::from_ints(q), Lanes::set(0.99999f / 254.0f)));
    const Lanes::I lo = Lanes::int_add(Lanes::int_sub(q, Lanes::shift_left32<8>(hi)), Lanes::shift_left32<1>(hi));
    sums_hi = Lanes::int_add(sums_hi, hi);
    sums_lo = Lanes::int_add(sums_lo, lo);
    Lanes::store_bytes(block + 32 * r + i * Lanes::kCount, hi);
    Lanes::store_bytes(block + 32 * (height + r) + i * Lanes::kCount, lo);
  }
  const int32_t sum_hi = Lanes::sum_of(sums_hi), sum_lo = Lanes::sum_of(sums_lo);
  std::byte* scales = block + 64 * height + 4 * r;
  put_float(scales, scale.d);
  put_float(scales + 4 * height, scale.d * static_cast<float>(254 * sum_hi + sum_lo));
  put_int(scales + 8 * height, -128 * sum_hi);
  put_int(scales + 12 * height, -128 * sum_lo);
}

void prepare_i8(const PrepareArgs& a) { for_each_unit<kI8UnitBytes>(a, quantize_i8); }
void prepare_i16(const PrepareArgs& a) { for_each_unit<kI16UnitBytes>(a, quantize_i16); }
