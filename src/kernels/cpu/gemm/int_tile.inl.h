// GEMM tiles of block-quantised weights with block-quantised activations. Included inside the namespace of an instruction set,
// after int_weights.inl.h, dot_*.inl.h and tiles.inl.h, with kIntGroups (groups taken at once) defined.
//
// Per block and output: the dot product in exact integers, as a float f; then acc = fma(f, d_w * d_a, acc) and, where the format
// has a minimum, acc = fma(m_w, d_a * sum_a, acc). Blocks ascend, one accumulator an output, whatever the tile: row-invariance. A
// broadcast activation serves all vectors of a tile: loads, not multiplications, would be the limit otherwise.

struct ActsI8 {
  static constexpr int64_t kUnitBytes = kI8UnitBytes;
  static constexpr int kQuantBytes = 32;
  template <class W, int R>
  [[gnu::always_inline]] static void dots(const BlockSource& source, const std::byte* block, Lanes::I (&t)[kVectors<W>][R]) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v)
        t[v][r] = W::kMinimum ? Lanes::int_zero() : Lanes::int_broadcast(block + 40 * R + 4 * r);
    }
    add_dots<W, R>(source, block, t);
  }
};

struct ActsI16 {
  static constexpr int64_t kUnitBytes = kI16UnitBytes;
  static constexpr int kQuantBytes = 64;
  template <class W, int R>
  [[gnu::always_inline]] static void dots(const BlockSource& source, const std::byte* block, Lanes::I (&t)[kVectors<W>][R]) {
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
    add_dots<W, R>(W::kKeep ? source : load_again(source), block + 32 * R, t);
  }
};

// A part of the blocks of k. Between parts the sums wait in y, as they are.
struct BlockRange {
  int64_t begin;
  int64_t end;
};

template <class W, class A>
struct IntTile {
  static constexpr int kV = kVectors<W>;

  template <int R>
  static void run(const ComputeArgs& a, int64_t group, int64_t row, const BlockRange& range) {
    Lanes::F acc[kV][R];
    start<R>(a, group, row, range, acc);
    const std::byte* acts = a.acts + (row * a.blocks + range.begin * R) * A::kUnitBytes;
    for (int64_t b = range.begin; b < range.end; ++b, acts += R * A::kUnitBytes) {
      const BlockSource source = W::block(a, group, b);
      if constexpr (R > 1) prefetch(acts + 3 * R * A::kUnitBytes, R * A::kUnitBytes);
      Lanes::I t[kV][R];
      A::template dots<W, R>(source, acts, t);
      add_block<R>(source, acts + A::kQuantBytes * R, t, acc);
    }
    store<R>(a, group, row, range, acc);
  }

 private:
  template <int R>
  [[gnu::always_inline]] static void add_block(const BlockSource& source, const std::byte* scales, const Lanes::I (&t)[kV][R],
                                               Lanes::F (&acc)[kV][R]) {
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
  [[gnu::always_inline]] static void start(const ComputeArgs& a, int64_t group, int64_t row, const BlockRange& range,
                                           Lanes::F (&acc)[kV][R]) {
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const int64_t output = group * kLanes + v * Lanes::kCount;
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        const float* y = a.y + (row + r) * a.y_stride + output;
        acc[v][r] = range.begin == 0 ? Lanes::zero() : Lanes::load_some(y, a.n - output);
      }
    }
  }

  template <int R>
  [[gnu::always_inline]] static void store(const ComputeArgs& a, int64_t group, int64_t row, const BlockRange& range,
                                           const Lanes::F (&acc)[kV][R]) {
    const bool add_bias = a.bias != nullptr && range.end == a.blocks;
#pragma GCC unroll 2
    for (int v = 0; v < kV; ++v) {
      const int64_t output = group * kLanes + v * Lanes::kCount;
      const Lanes::F bias = add_bias ? Lanes::load_some(a.bias + output, a.n - output) : Lanes::zero();
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) {
        float* y = a.y + (row + r) * a.y_stride + output;
        Lanes::store(y, add_bias ? Lanes::add(acc[v][r], bias) : acc[v][r], a.n - output);
      }
    }
  }
};

template <class W, class A, int kMaxTile>
inline void all_tiles(const ComputeArgs& a, int64_t group, const BlockRange& range) {
  for (int64_t t = a.tile_begin; t < a.tile_end; ++t) {
    with_height<IntTile<W, A>, kMaxTile>(tile_height(a.tiling, t), a, group, tile_first_row(a.tiling, t), range);
  }
}

// Calls part(range) for the blocks of k cut into even parts of at most kScratchBlocks, which stay in the first-level cache.
template <typename Part>
inline void for_each_part(const ComputeArgs& a, Part part) {
  const int64_t count = (a.blocks + kScratchBlocks - 1) / kScratchBlocks;
  for (int64_t i = 0; i < count; ++i) part(BlockRange{i * a.blocks / count, (i + 1) * a.blocks / count});
}

// Tiles from which on cutting k into parts, and unpacking nibbles beforehand, pay.
inline constexpr int64_t kManyTiles = 3;

template <int kGroups, class A, int kMaxTile>
struct GroupsI4 {
  static void run(const ComputeArgs& a, int64_t group) {
    if (a.tile_end - a.tile_begin < kManyTiles) return all_tiles<PackedI4<kGroups>, A, kMaxTile>(a, group, {0, a.blocks});
    for_each_part(a, [&](const BlockRange& range) {
      unpack_groups<kGroups>(a, group, range.begin, range.end);
      unpacked_tiles(a, group, range);
    });
  }

 private:
  // Between tiles a part of the weights that come next is asked for, so that unpacking them does not wait for memory.
  static void unpacked_tiles(const ComputeArgs& a, int64_t group, const BlockRange& range) {
    const int64_t tiles = a.tile_end - a.tile_begin, blocks = range.end - range.begin;
    const bool last = range.end == a.blocks;
    const std::byte* next = a.weights + (last ? group + kGroups : group) * a.group_bytes + (last ? 0 : range.end * kI4BlockBytes);
    const int64_t per_tile = (blocks + tiles - 1) / tiles;
    for (int64_t t = a.tile_begin, b = 0; t < a.tile_end; ++t, b += per_tile) {
      for (int64_t i = b; i < smaller(b + per_tile, blocks); ++i) {
        for (int g = 0; g < kGroups; ++g) prefetch(next + g * a.group_bytes + i * kI4BlockBytes, kI4BlockBytes);
      }
      with_height<IntTile<UnpackedI4<kGroups>, A>, kMaxTile>(tile_height(a.tiling, t), a, group, tile_first_row(a.tiling, t),
                                                             range);
    }
  }
};

template <int kGroups, class A, int kMaxTile>
struct GroupsI8 {
  static void run(const ComputeArgs& a, int64_t group) {
    if (a.tile_end - a.tile_begin < kManyTiles) return all_tiles<PackedI8<kGroups>, A, kMaxTile>(a, group, {0, a.blocks});
    for_each_part(a, [&](const BlockRange& range) { all_tiles<PackedI8<kGroups>, A, kMaxTile>(a, group, range); });
  }
};

template <template <int, class, int> class Groups, class A, int kMaxTile>
void compute_int(const ComputeArgs& a) {
  int64_t g = a.group_begin;
  for (; g + kIntGroups <= a.group_end; g += kIntGroups) Groups<kIntGroups, A, kMaxTile>::run(a, g);
  if constexpr (kIntGroups > 1) {
    for (; g < a.group_end; ++g) Groups<1, A, kMaxTile>::run(a, g);
  }
}
