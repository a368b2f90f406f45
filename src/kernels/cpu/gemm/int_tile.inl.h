// GEMM tiles of block-quantised weights with block-quantised activations. Included inside the namespace of an instruction set, after
// int_weights.inl.h, dot_*.inl.h and tiles.inl.h, with kIntGroups (groups taken at once) defined.
//
// Per block and output: the dot product in exact integers, as a float f; then acc = fma(f, d_w * d_a, acc) and, where the format has
// a minimum, acc = fma(m_w, d_a * sum_a, acc). Blocks ascend, one accumulator an output, whatever the tile: row-invariance.
// A broadcast activation serves all vectors of a tile: loads, not multiplications, would be the limit otherwise.

struct ActsI8 {
  static constexpr int64_t kUnitBytes = kI8UnitBytes;
  static constexpr int kQuantBytes = 32;
  template <class W, int R>
  static void dots(const BlockSource& source, const std::byte* block, Lanes::I (&t)[kVectors<W>][R]) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) t[v][r] = W::kMinimum ? Lanes::int_zero() : Lanes::int_broadcast(block + 40 * R + 4 * r);
    }
    add_dots<W, R>(source, block, t);
  }
};

struct ActsI16 {
  static constexpr int64_t kUnitBytes = kI16UnitBytes;
  static constexpr int kQuantBytes = 64;
  template <class W, int R>
  static void dots(const BlockSource& source, const std::byte* block, Lanes::I (&t)[kVectors<W>][R]) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) t[v][r] = Lanes::int_zero();
    }
    add_dots<W, R>(source, block, t);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) {
        t[v][r] = Lanes::shift_left32<8>(t[v][r]);
        if constexpr (!W::kMinimum) t[v][r] = Lanes::int_add(t[v][r], Lanes::int_broadcast(block + 72 * R + 4 * r));
      }
    }
    add_dots<W, R>(source, block + 32 * R, t);
  }
};

template <class W, class A>
struct IntTile {
  static constexpr int kV = kVectors<W>;

  template <int R>
  static void run(const ComputeArgs& a, int64_t group, int64_t row) {
    Lanes::F acc[kV][R];
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) acc[v][r] = Lanes::zero();
    }
    const std::byte* acts = a.acts + row * a.blocks * A::kUnitBytes;
    for (int64_t b = 0; b < a.blocks; ++b, acts += R * A::kUnitBytes) {
      const BlockSource source = W::block(a, group, b);
      Lanes::I t[kV][R];
      A::template dots<W, R>(source, acts, t);
      add_block<R>(source, acts + A::kQuantBytes * R, t, acc);
    }
    store<R>(a, group, row, acc);
  }

 private:
  template <int R>
  static void add_block(const BlockSource& source, const std::byte* scales, const Lanes::I (&t)[kV][R], Lanes::F (&acc)[kV][R]) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const Lanes::F d = load_scale<W>(source, v, 0);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        acc[v][r] = Lanes::fma(Lanes::from_ints(t[v][r]), Lanes::mul(d, Lanes::broadcast(scales + 4 * r)), acc[v][r]);
      }
      if constexpr (W::kMinimum) {
        const Lanes::F m = load_scale<W>(source, v, 32);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) acc[v][r] = Lanes::fma(m, Lanes::broadcast(scales + 4 * (R + r)), acc[v][r]);
      }
    }
  }

  template <int R>
  static void store(const ComputeArgs& a, int64_t group, int64_t row, const Lanes::F (&acc)[kV][R]) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const int64_t output = group * kLanes + v * Lanes::kCount;
      const Lanes::F bias = a.bias == nullptr ? Lanes::zero() : Lanes::load_some(a.bias + output, a.n - output);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        Lanes::store(a.y + (row + r) * a.y_stride + output, a.bias == nullptr ? acc[v][r] : Lanes::add(acc[v][r], bias), a.n - output);
      }
    }
  }
};

template <class W, class A, int kMaxTile>
inline void all_tiles(const ComputeArgs& a, int64_t group) {
  for (int64_t t = a.tile_begin; t < a.tile_end; ++t) {
    with_height<IntTile<W, A>, kMaxTile>(tile_height(a.tiling, t), a, group, tile_first_row(a.tiling, t));
  }
}

// Packed, Unpacked: the weights as they come, and as they are after `unpack_groups`, which pays from kUnpackTiles tiles on.
template <template <int> class Packed, class A, int kMaxTile>
void compute_int(const ComputeArgs& a) {
  int64_t g = a.group_begin;
  for (; g + kIntGroups <= a.group_end; g += kIntGroups) all_tiles<Packed<kIntGroups>, A, kMaxTile>(a, g);
  if constexpr (kIntGroups > 1) {
    for (; g < a.group_end; ++g) all_tiles<Packed<1>, A, kMaxTile>(a, g);
  }
}

inline constexpr int64_t kUnpackTiles = 3;

template <class A, int kMaxTile>
void compute_i4(const ComputeArgs& a) {
  if (a.tile_end - a.tile_begin < kUnpackTiles) return compute_int<PackedI4, A, kMaxTile>(a);
  int64_t g = a.group_begin;
  for (; g + kIntGroups <= a.group_end; g += kIntGroups) {
    unpack_groups<kIntGroups>(a, g);
    all_tiles<UnpackedI4<kIntGroups>, A, kMaxTile>(a, g);
  }
  if constexpr (kIntGroups > 1) {
    for (; g < a.group_end; ++g) {
      unpack_groups<1>(a, g);
      all_tiles<UnpackedI4<1>, A, kMaxTile>(a, g);
    }
  }
}
