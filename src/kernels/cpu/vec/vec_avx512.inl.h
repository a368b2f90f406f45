// 16 f32 lanes in one AVX-512 register: the functions of vec_generic.inl.h, with fused multiply-add.
constexpr int kRegisterLanes = 16;

struct Vec {
  __m512 all;
};

inline Vec set1(float x) { return {_mm512_set1_ps(x)}; }
inline Vec zero() { return {_mm512_setzero_ps()}; }
inline Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline void store(float* p, Vec v) { _mm512_storeu_ps(p, v.all); }
inline __mmask16 mask_n(int n) { return static_cast<__mmask16>((1u << n) - 1u); }
inline Vec load_n(const float* p, int n) { return {_mm512_maskz_loadu_ps(mask_n(n), p)}; }
inline void store_n(float* p, Vec v, int n) { _mm512_mask_storeu_ps(p, mask_n(n), v.all); }
inline Vec load(const uint16_t* p) { return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))}; }
inline void store(uint16_t* p, Vec v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtps_ph(v.all, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

inline Vec add(Vec a, Vec b) { return {_mm512_add_ps(a.all, b.all)}; }
inline Vec sub(Vec a, Vec b) { return {_mm512_sub_ps(a.all, b.all)}; }
inline Vec mul(Vec a, Vec b) { return {_mm512_mul_ps(a.all, b.all)}; }
inline Vec div(Vec a, Vec b) { return {_mm512_div_ps(a.all, b.all)}; }
inline Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.all, b.all, c.all)}; }
inline Vec max_of(Vec a, Vec b) { return {_mm512_max_ps(a.all, b.all)}; }
inline Vec min_of(Vec a, Vec b) { return {_mm512_min_ps(a.all, b.all)}; }
inline Vec first_n(Vec a, Vec b, int n) { return {_mm512_mask_mov_ps(b.all, mask_n(n), a.all)}; }
inline float sum(Vec v) {
  const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v.all), _mm512_extractf32x8_ps(v.all, 1));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
inline float max_lane(Vec v) {
  const __m256 eight = _mm256_max_ps(_mm512_castps512_ps256(v.all), _mm512_extractf32x8_ps(v.all, 1));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}
inline Vec add_to_exponent(Vec v, Vec power) {
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(v.all), _mm512_slli_epi32(_mm512_castps_si512(power.all), 23)))};
}
inline Vec zero_below(Vec v, Vec x, float limit) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.all, _mm512_set1_ps(limit), _CMP_GE_OQ), v.all)};
}
inline Vec load_doubled(const float* p) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  return {_mm512_permutexvar_ps(twice, _mm512_castps256_ps512(_mm256_loadu_ps(p)))};
}
inline Vec swap_pairs(Vec v) { return {_mm512_permute_ps(v.all, 0xb1)}; }
inline Vec negate_even(Vec v) {
  return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(v.all), _mm512_set1_epi64(0x80000000ll)))};
}
inline float square_root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
