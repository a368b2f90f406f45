// Exact integer dot products of a block with VNNI: unsigned weights, signed activations. Included after lanes_*.inl.h.

// Eight vectors of 4 columns x lanes; offsets are taken back by `start`, the int the sum begins with.
struct Quants4 {
  Lanes::I q[8];
};
using Quants8 = Quants4;

inline void split_bytes(const Lanes::I (&bytes)[8], Quants8* out) {
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) out->q[j] = bytes[j];
}

inline Lanes::I dot(const Quants4& w, const std::byte* a, Lanes::I sum) {
#pragma GCC unroll 8
  for (int j = 0; j < 8; ++j) sum = _mm512_dpbusd_epi32(sum, w.q[j], Lanes::int_broadcast(a + 4 * j));
  return sum;
}
