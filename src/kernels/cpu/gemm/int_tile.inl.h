// GEMM tiles of block-quantised weights with block-quantised activations. Included inside the namespace of an instruction set,
// after lanes_*.inl.h, dot_*.inl.h and tiles.inl.h.
//
// Per block and output: the dot product in exact integers, as a float f; then acc = fma(f, d_w * d_a, acc) and, where the format
// has a minimum, acc = fma(m_w, d_a * sum_a, acc). Blocks ascend, one accumulator an output, whatever the tile's height:
// row-invariance. A block costs a row 8 (i16: 16) dot instructions and 4 (6) others, a weight vector is unpacked once a tile.

// Bytes ahead of the block in work that are asked for: covers the memory's latency at the rate one core can use. Measured with
// bench/gemm_bench (decode shapes).
inline constexpr int64_t kPrefetchAhead = 4096;

inline void prefetch(const std::byte* from, int lines) {
  for (int i = 0; i < lines; ++i) _mm_prefetch(reinterpret_cast<const char*>(from) + kPrefetchAhead + 64 * i, _MM_HINT_T0);
}

struct WeightsI4 {
  static constexpr bool kMinimum = true;
  Quants4 q;
  Lanes::F d, m;

  // Lanes [lane, lane + Lanes::kCount) of block `b`.
  static WeightsI4 load(const std::byte* group, int64_t, int64_t b, int lane) {
    const std::byte* block = group + b * kI4BlockBytes;
    if (lane == 0) prefetch(block, 5);
    WeightsI4 w;
    const Lanes::I mask = Lanes::int_set(0x0F0F0F0F);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      const Lanes::I bytes = Lanes::int_load(block + 64 + 64 * j + 4 * lane);
      w.q.q[j] = Lanes::int_and(bytes, mask);
      w.q.q[j + 4] = Lanes::int_and(Lanes::shift_right16<4>(bytes), mask);
    }
    w.d = Lanes::load_f16(block + 2 * lane);
    w.m = Lanes::load_f16(block + 32 + 2 * lane);
    return w;
  }
};

struct WeightsI8 {
  static constexpr bool kMinimum = false;
  Quants8 q;
  Lanes::F d, m;

  static WeightsI8 load(const std::byte* group, int64_t blocks, int64_t b, int lane) {
    const std::byte* block = group + (blocks * 32 + 63) / 64 * 64 + b * kI8BlockBytes;
    if (lane == 0) prefetch(block, 8);
    Lanes::I bytes[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j) bytes[j] = Lanes::int_load(block + 64 * j + 4 * lane);
    WeightsI8 w;
    split_bytes(bytes, &w.q);
    w.d = Lanes::load_f16(group + 32 * b + 2 * lane);
    w.m = w.d;
    return w;
  }
};

struct ActsI8 {
  static constexpr int64_t kUnitBytes = kI8UnitBytes;
  template <int R, class W>
  static Lanes::F dot_block(const W& w, const std::byte* block, int r) {
    const Lanes::I start = W::kMinimum ? Lanes::int_zero() : Lanes::int_broadcast(block + 40 * R + 4 * r);
    return Lanes::from_ints(dot(w.q, block + 32 * r, start));
  }
  static constexpr int64_t scale_offset(int height) { return 32 * height; }
};

struct ActsI16 {
  static constexpr int64_t kUnitBytes = kI16UnitBytes;
  // |254 * hi + lo| may pass 2^24, hi and lo do not: the fma rounds once, as converting the exact integer would.
  template <int R, class W>
  static Lanes::F dot_block(const W& w, const std::byte* block, int r) {
    const Lanes::I start_hi = W::kMinimum ? Lanes::int_zero() : Lanes::int_broadcast(block + 72 * R + 4 * r);
    const Lanes::I start_lo = W::kMinimum ? Lanes::int_zero() : Lanes::int_broadcast(block + 76 * R + 4 * r);
    const Lanes::F hi = Lanes::from_ints(dot(w.q, block + 32 * r, start_hi));
    const Lanes::F lo = Lanes::from_ints(dot(w.q, block + 32 * (R + r), start_lo));
    return Lanes::fma(hi, Lanes::set(254.0f), lo);
  }
  static constexpr int64_t scale_offset(int height) { return 64 * height; }
};

template <class W, class A>
struct IntTile {
  template <int R>
  static void run(const ComputeArgs& a, const std::byte* group, const std::byte* acts, float* y, int64_t first_output) {
    for (int lane = 0; lane < kLanes; lane += Lanes::kCount) {
      const int64_t outputs = smaller(a.n - first_output - lane, Lanes::kCount);
      if (outputs > 0)
        lanes<R>(a, group, acts, y + lane, a.bias == nullptr ? nullptr : a.bias + first_output + lane, lane, outputs);
    }
  }

  template <int R>
  static void lanes(const ComputeArgs& a, const std::byte* group, const std::byte* acts, float* y, const float* bias, int lane,
                    int64_t outputs) {
    Lanes::F acc[R];
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) acc[r] = Lanes::zero();
    for (int64_t b = 0; b < a.blocks; ++b, acts += R * A::kUnitBytes) {
      const W w = W::load(group, a.blocks, b, lane);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const std::byte* scale = acts + A::scale_offset(R) + 4 * r;
        const Lanes::F f = A::template dot_block<R>(w, acts, r);
        acc[r] = Lanes::fma(f, Lanes::mul(w.d, Lanes::broadcast(scale)), acc[r]);
        if constexpr (W::kMinimum) acc[r] = Lanes::fma(w.m, Lanes::broadcast(scale + 4 * R), acc[r]);
      }
    }
    const Lanes::F offset = bias == nullptr ? Lanes::zero() : Lanes::load_some(bias, outputs);
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) Lanes::store(y + r * a.y_stride, bias == nullptr ? acc[r] : Lanes::add(acc[r], offset), outputs);
  }
};

template <class W, class A, int kMaxTile>
void compute_int(const ComputeArgs& a) {
  for (int64_t g = a.group_begin; g < a.group_end; ++g) {
    for (int64_t t = a.tile_begin; t < a.tile_end; ++t) {
      const int64_t row = tile_first_row(a.tiling, t);
      with_height<IntTile<W, A>, kMaxTile>(tile_height(a.tiling, t), a, a.weights + g * a.group_bytes,
                                           a.acts + row * a.blocks * A::kUnitBytes, a.y + row * a.y_stride + g * kLanes,
                                           g * kLanes);
    }
  }
}
