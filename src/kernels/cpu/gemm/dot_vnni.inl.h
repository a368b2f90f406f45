// Exact integer dot products with VNNI: unsigned weights, signed activations. Included after lanes_*.inl.h and int_weights.inl.h.

// t[v][r] += the block's dot product of weight vector v with row r, whose 32 bytes stand at a + 32 * r.
template <class W, int R>
[[gnu::always_inline]] inline void add_dots(const BlockSource& source, const std::byte* a, Lanes::I (&t)[kVectors<W>][R]) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    Lanes::I w[kVectors<W>], w4[kVectors<W>];
    W::load_quads(source, j, w, w4);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Lanes::I row = Lanes::int_broadcast(a + 32 * r + 4 * j);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) t[v][r] = _mm512_dpbusd_epi32(t[v][r], w[v], row);
    }
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Lanes::I row = Lanes::int_broadcast(a + 32 * r + 16 + 4 * j);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) t[v][r] = _mm512_dpbusd_epi32(t[v][r], w4[v], row);
    }
  }
}
