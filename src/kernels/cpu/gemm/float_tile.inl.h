// GEMM tiles of f32, f16 and bf16 weights with f32 activations. Included inside the namespace of an instruction set, after
// lanes_*.inl.h and tiles.inl.h. bf16 activations come rounded, as f32, so the same tile serves them.
//
// One fma a column, columns ascending, one accumulator an output, whatever the tile's height: row-invariance. Few rows take several
// groups of weight rows at once, to have enough independent sums for the fma's latency.

inline constexpr int64_t kFloatPrefetchAhead = 2048;

// Weights come in pairs of columns, an odd last column with a zero behind it.
struct WeightsF32 {
  static constexpr int64_t kPairBytes = 128;
  static void load(const std::byte* pair, int lane, Lanes::F* even, Lanes::F* odd) {
    *even = Lanes::load(pair + 4 * lane);
    *odd = Lanes::load(pair + 64 + 4 * lane);
  }
};
struct WeightsF16 {
  static constexpr int64_t kPairBytes = 64;
  static void load(const std::byte* pair, int lane, Lanes::F* even, Lanes::F* odd) {
    *even = Lanes::load_f16(pair + 2 * lane);
    *odd = Lanes::load_f16(pair + 32 + 2 * lane);
  }
};
struct WeightsBf16 {
  static constexpr int64_t kPairBytes = 64;
  static void load(const std::byte* pair, int lane, Lanes::F* even, Lanes::F* odd) {
    const Lanes::I bits = Lanes::int_load(pair + 4 * lane);
    *even = Lanes::as_floats(Lanes::shift_left32<16>(bits));
    *odd = Lanes::as_floats(Lanes::int_and(bits, Lanes::int_set(static_cast<int32_t>(0xFFFF0000u))));
  }
};

// acc[v][r] += w . x over all columns; vector v holds lanes of group v / kHalves.
template <class W>
struct FloatDots {
  static constexpr int64_t kUnitBytes = kF32UnitBytes;
  static constexpr int kHalves = 16 / Lanes::kCount;

  template <int R, int G>
  [[gnu::always_inline]] static void run(const ComputeArgs& a, const std::byte* group, const std::byte* x,
                                         Lanes::F (&acc)[G * kHalves][R]) {
    constexpr int kVectors = G * kHalves;
    for (int64_t pair = 0; pair < (a.k + 1) / 2; ++pair, x += 8 * R, group += W::kPairBytes) {
      Lanes::F even[kVectors], odd[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const std::byte* from = group + v / kHalves * a.group_bytes;
        if (v % kHalves == 0) prefetch_weights(from);
        W::load(from, v % kHalves * Lanes::kCount, &even[v], &odd[v]);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) add_row<R, kVectors>(acc, r, even, Lanes::broadcast(x + 4 * r));
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) add_row<R, kVectors>(acc, r, odd, Lanes::broadcast(x + 4 * (R + r)));
    }
  }

 private:
  static void prefetch_weights(const std::byte* from) {
    for (int64_t at = 0; at < W::kPairBytes; at += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(from) + kFloatPrefetchAhead + at, _MM_HINT_T0);
    }
  }
  template <int R, int kVectors>
  static void add_row(Lanes::F (&acc)[kVectors][R], int r, const Lanes::F (&w)[kVectors], Lanes::F x) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) acc[v][r] = Lanes::fma(w[v], x, acc[v][r]);
  }
};
