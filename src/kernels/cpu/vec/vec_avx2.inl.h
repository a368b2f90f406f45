// 16 f32 lanes in two AVX2 registers: the functions of vec_generic.inl.h, with fused multiply-add.
constexpr int kRegisterLanes = 8;

struct Vec {
  __m256 low, high;
};

inline Vec set1(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
inline Vec zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
inline Vec load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
inline void store(float* p, Vec v) {
  _mm256_storeu_ps(p, v.low);
  _mm256_storeu_ps(p + 8, v.high);
}
inline __m256i mask_n(int n) { return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
inline Vec load_n(const float* p, int n) { return {_mm256_maskload_ps(p, mask_n(n)), _mm256_maskload_ps(p + 8, mask_n(n - 8))}; }
inline void store_n(float* p, Vec v, int n) {
  _mm256_maskstore_ps(p, mask_n(n), v.low);
  _mm256_maskstore_ps(p + 8, mask_n(n - 8), v.high);
}
inline Vec load(const uint16_t* p) {
  return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))),
          _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p + 8)))};
}
inline void store(uint16_t* p, Vec v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(v.low, _MM_FROUND_TO_NEAREST_INT));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(v.high, _MM_FROUND_TO_NEAREST_INT));
}

inline Vec add(Vec a, Vec b) { return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)}; }
inline Vec sub(Vec a, Vec b) { return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)}; }
inline Vec mul(Vec a, Vec b) { return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)}; }
inline Vec div(Vec a, Vec b) { return {_mm256_div_ps(a.low, b.low), _mm256_div_ps(a.high, b.high)}; }
inline Vec fma(Vec a, Vec b, Vec c) { return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)}; }
inline Vec max_of(Vec a, Vec b) { return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)}; }
inline Vec min_of(Vec a, Vec b) { return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)}; }
inline Vec first_n(Vec a, Vec b, int n) {
  return {_mm256_blendv_ps(b.low, a.low, _mm256_castsi256_ps(mask_n(n))),
          _mm256_blendv_ps(b.high, a.high, _mm256_castsi256_ps(mask_n(n - 8)))};
}
inline float sum(Vec v) {
  const __m256 eight = _mm256_add_ps(v.low, v.high);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float max_lane(Vec v) {
  const __m256 eight = _mm256_max_ps(v.low, v.high);
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
inline __m256 add_to_exponent(__m256 v, __m256 power) {
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(v), _mm256_slli_epi32(_mm256_castps_si256(power), 23)));
}
inline Vec add_to_exponent(Vec v, Vec power) { return {add_to_exponent(v.low, power.low), add_to_exponent(v.high, power.high)}; }
inline Vec zero_below(Vec v, Vec x, float limit) {
  const __m256 edge = _mm256_set1_ps(limit);
  return {_mm256_and_ps(v.low, _mm256_cmp_ps(x.low, edge, _CMP_GE_OQ)),
          _mm256_and_ps(v.high, _mm256_cmp_ps(x.high, edge, _CMP_GE_OQ))};
}
inline Vec load_doubled(const float* p) {
  const __m256 eight = _mm256_loadu_ps(p);
  return {_mm256_permutevar8x32_ps(eight, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)),
          _mm256_permutevar8x32_ps(eight, _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7))};
}
inline Vec swap_pairs(Vec v) { return {_mm256_permute_ps(v.low, 0xb1), _mm256_permute_ps(v.high, 0xb1)}; }
inline Vec negate_even(Vec v) {
  const __m256 signs = _mm256_setr_ps(-0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f, -0.0f, 0.0f);
  return {_mm256_xor_ps(v.low, signs), _mm256_xor_ps(v.high, signs)};
}
inline float square_root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
