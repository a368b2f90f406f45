// Exact integer dot products of a block without VNNI. Included after lanes_*.inl.h.
//
// maddubs adds two products in 16 bits. With weights of 0..15 and activations of -127..127 a block's 16 products of one lane half
// stay below 32767 (16 * 15 * 127 = 30480), so that they are summed in 16 bits; weights of a whole byte are taken as two nibbles.

struct Quants4 {
  Lanes::I q[8];
};
struct Quants8 {
  Quants4 low, high;
};

inline void split_bytes(const Lanes::I (&bytes)[8], Quants8* out) {
  const Lanes::I mask = Lanes::int_set(0x0F0F0F0F);
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) {
    out->low.q[j] = Lanes::int_and(bytes[j], mask);
    out->high.q[j] = Lanes::int_and(Lanes::shift_right16<4>(bytes[j]), mask);
  }
}

inline Lanes::I dot_nibbles(const Quants4& w, const std::byte* a) {
  Lanes::I sum = Lanes::maddubs(w.q[0], Lanes::int_broadcast(a));
#pragma GCC unroll 8
  for (int j = 1; j < 8; ++j) sum = Lanes::int_add16(sum, Lanes::maddubs(w.q[j], Lanes::int_broadcast(a + 4 * j)));
  return Lanes::madd(sum, Lanes::int_set(0x00010001));
}
inline Lanes::I dot(const Quants4& w, const std::byte* a, Lanes::I start) { return Lanes::int_add(dot_nibbles(w, a), start); }
inline Lanes::I dot(const Quants8& w, const std::byte* a, Lanes::I start) {
  const Lanes::I high = Lanes::shift_left32<4>(dot_nibbles(w.high, a));
  return Lanes::int_add(Lanes::int_add(dot_nibbles(w.low, a), high), start);
}
