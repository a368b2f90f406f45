// 2^x for 16 lanes and x <= 126, over any of the vec_*.inl.h. Relative error below 2^-23: 1 + r * p(r) on [-1/2, 1/2] with p of
// degree 5 through the Chebyshev nodes (1e-8 from the true value), the rest is rounding. Exactly 1 at 0; 0 below -126 (and for
// NaN).
inline Vec exp2(Vec x) {
  const Vec magic = set1(0x1.8p23f);  // the sum has no bits behind the point, and x rounded to an integer in its lowest bits
  const Vec shifted = add(x, magic);
  const Vec r = sub(x, sub(shifted, magic));
  Vec p = set1(0x1.44138ap-13f);
  p = fma(p, r, set1(0x1.5f089p-10f));
  p = fma(p, r, set1(0x1.3b2a54p-7f));
  p = fma(p, r, set1(0x1.c6af6cp-5f));
  p = fma(p, r, set1(0x1.ebfbep-3f));
  p = fma(p, r, set1(0x1.62e43p-1f));
  p = fma(p, r, set1(1.0f));
  return zero_below(add_to_exponent(p, shifted), x, -126.0f);
}
