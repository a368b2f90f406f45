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

inline void put_scales(std::byte* to, int height, float d, int32_t sum) {
  const float d_sum = d * static_cast<float>(sum);
  const int32_t offset = -128 * sum;
  __builtin_memcpy(to, &d, 4);
  __builtin_memcpy(to + 4 * height, &d_sum, 4);
  __builtin_memcpy(to + 8 * height, &offset, 4);
}

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
  put_scales(block + 32 * height + 4 * r, height, scale.d, Lanes::sum_of(sums));
}

// q = 256 * hi + lo with lo in -128..127, so that hi stays within -127..127.
inline void quantize_i16(const float* from, int64_t, std::byte* block, int r, int height) {
  Lanes::F x[kBlockVectors], y[kBlockVectors];
  load_block(from, x);
  const BlockScale scale = block_scale(x, 32385.0f);
  rounded_quotients(x, scale, 32385.0f, y);
  Lanes::I sums = Lanes::int_zero();
  for (int i = 0; i < kBlockVectors; ++i) {
    const Lanes::I q = Lanes::to_ints(y[i]);
    const Lanes::I lo = Lanes::sign_extend_bytes(q);
    sums = Lanes::int_add(sums, q);
    Lanes::store_bytes(block + 32 * r + i * Lanes::kCount, Lanes::shift_right32<8>(Lanes::int_sub(q, lo)));
    Lanes::store_bytes(block + 32 * (height + r) + i * Lanes::kCount, lo);
  }
  put_scales(block + 64 * height + 4 * r, height, scale.d, Lanes::sum_of(sums));
}

void prepare_i8(const PrepareArgs& a) { for_each_unit<kI8UnitBytes>(a, quantize_i8); }
void prepare_i16(const PrepareArgs& a) { for_each_unit<kI16UnitBytes>(a, quantize_i16); }
