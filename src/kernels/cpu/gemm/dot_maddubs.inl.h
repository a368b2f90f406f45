// Exact integer dot products without VNNI. Included after lanes_*.inl.h and int_weights.inl.h.
//
// maddubs adds two products in 16 bits. With weights of 0..15 and activations of -128..127 a block's 16 products of one lane half
// stay below 32768 (16 * 15 * 128 = 30720), so that they are summed in 16 bits; weights of a whole byte are taken as two nibbles.

enum class Nibble { kLow, kHigh };

template <class W, Nibble kPart>
[[gnu::always_inline]] inline void take_nibbles(Lanes::I (&w)[kVectors<W>]) {
  if constexpr (W::kNibbles) return;
#pragma GCC unroll 2
  for (Lanes::I& bytes : w) {
    if constexpr (kPart == Nibble::kHigh) bytes = Lanes::shift_right16<4>(bytes);
    bytes = Lanes::int_and(bytes, Lanes::int_set(0x0F0F0F0F));
  }
}

// The dot products of one nibble of each weight, as 32-bit integers.
template <class W, int R, Nibble kPart>
[[gnu::always_inline]] inline void nibble_dots(const BlockSource& source, const std::byte* a, Lanes::I (&sums)[kVectors<W>][R]) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) {
    Lanes::I w[kVectors<W>], w4[kVectors<W>];
    W::load_quads(source, j, w, w4);
    take_nibbles<W, kPart>(w);
    take_nibbles<W, kPart>(w4);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const Lanes::I row = Lanes::int_broadcast(a + 32 * r + 4 * j), row4 = Lanes::int_broadcast(a + 32 * r + 16 + 4 * j);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) {
        const Lanes::I both = Lanes::int_add16(Lanes::maddubs(w[v], row), Lanes::maddubs(w4[v], row4));
        sums[v][r] = j == 0 ? both : Lanes::int_add16(sums[v][r], both);
      }
    }
  }
#pragma GCC unroll 2
  for (int v = 0; v < kVectors<W>; ++v) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) sums[v][r] = Lanes::madd(sums[v][r], Lanes::int_set(0x00010001));
  }
}

// t[v][r] += the block's dot product of weight vector v with row r, whose 32 bytes stand at a + 32 * r.
template <class W, int R>
[[gnu::always_inline]] inline void add_dots(const BlockSource& source, const std::byte* a, Lanes::I (&t)[kVectors<W>][R]) {
  Lanes::I sums[kVectors<W>][R];
  nibble_dots<W, R, Nibble::kLow>(source, a, sums);
#pragma GCC unroll 2
  for (int v = 0; v < kVectors<W>; ++v) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) t[v][r] = Lanes::int_add(t[v][r], sums[v][r]);
  }
  if constexpr (!W::kNibbles) {
    nibble_dots<W, R, Nibble::kHigh>(source, a, sums);
#pragma GCC unroll 2
    for (int v = 0; v < kVectors<W>; ++v) {
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) t[v][r] = Lanes::int_add(t[v][r], Lanes::shift_left32<4>(sums[v][r]));
    }
  }
}
