// Walks groups and tiles for kernels whose sums run over whole rows (f32, f16, bf16): `Dots` does the sums, this stores them.
// Included inside the namespace of an instruction set, after lanes_*.inl.h and tiles.inl.h.

// Groups taken at once for a tile of R rows.
template <int R>
inline constexpr int kGroupsAtOnce = kMaxVectors / (16 / Lanes::kCount) / R >= 4   ? 4
                                     : kMaxVectors / (16 / Lanes::kCount) / R >= 2 ? 2
                                                                                   : 1;
inline constexpr int64_t kGroupStep = 4;  // a multiple of every kGroupsAtOnce

template <class Dots>
struct GroupTile {
  template <int R>
  static void run(const ComputeArgs& a, int64_t group_begin, int64_t group_end, int64_t row) {
    int64_t g = group_begin;
    for (; g + kGroupsAtOnce<R> <= group_end; g += kGroupsAtOnce<R>) groups<R, kGroupsAtOnce<R>>(a, g, row);
    if constexpr (kGroupsAtOnce<R> > 1) {
      for (; g < group_end; ++g) groups<R, 1>(a, g, row);
    }
  }

 private:
  template <int R, int G>
  static void groups(const ComputeArgs& a, int64_t group, int64_t row) {
    constexpr int kHalves = 16 / Lanes::kCount;
    Lanes::F acc[G * kHalves][R];
#pragma GCC unroll 8
    for (int v = 0; v < G * kHalves; ++v) {
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) acc[v][r] = Lanes::zero();
    }
    Dots::template run<R, G>(a, a.weights + group * a.group_bytes, a.acts + row * a.blocks * Dots::kUnitBytes, acc);
#pragma GCC unroll 8
    for (int v = 0; v < G * kHalves; ++v) {
      const int64_t output = group * kLanes + v * Lanes::kCount;
      const Lanes::F bias = a.bias == nullptr ? Lanes::zero() : Lanes::load_some(a.bias + output, a.n - output);
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        Lanes::store(a.y + (row + r) * a.y_stride + output, a.bias == nullptr ? acc[v][r] : Lanes::add(acc[v][r], bias),
                     a.n - output);
      }
    }
  }
};

template <class Dots, int kMaxTile>
void compute_groups(const ComputeArgs& a) {
  for (int64_t g = a.group_begin; g < a.group_end; g += kGroupStep) {
    const int64_t end = smaller(g + kGroupStep, a.group_end);
    for (int64_t t = a.tile_begin; t < a.tile_end; ++t) {
      with_height<GroupTile<Dots>, kMaxTile>(tile_height(a.tiling, t), a, g, end, tile_first_row(a.tiling, t));
    }
  }
}
