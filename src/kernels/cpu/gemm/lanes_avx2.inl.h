// 8 lanes of 32 bits. Included inside a namespace of an instruction set.

struct Lanes {
  using F = __m256;
  using I = __m256i;
  static constexpr int kCount = 8;

  static F zero() { return _mm256_setzero_ps(); }
  static F set(float value) { return _mm256_set1_ps(value); }
  static F load(const void* from) { return _mm256_loadu_ps(static_cast<const float*>(from)); }
  static F load_f16(const std::byte* from) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))); }
  static F broadcast(const std::byte* from) { return _mm256_broadcast_ss(reinterpret_cast<const float*>(from)); }
  static F mul(F a, F b) { return _mm256_mul_ps(a, b); }
  static F add(F a, F b) { return _mm256_add_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm256_fmadd_ps(a, b, c); }
  static F from_ints(I a) { return _mm256_cvtepi32_ps(a); }
  static F as_floats(I a) { return _mm256_castsi256_ps(a); }

  static I int_zero() { return _mm256_setzero_si256(); }
  static I int_set(int32_t value) { return _mm256_set1_epi32(value); }
  static I int_load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
  static void int_store(std::byte* to, I a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a); }
  static I int_broadcast(const std::byte* from) { return _mm256_castps_si256(broadcast(from)); }
  static I int_add(I a, I b) { return _mm256_add_epi32(a, b); }
  static I int_and(I a, I b) { return _mm256_and_si256(a, b); }
  static I int_add16(I a, I b) { return _mm256_add_epi16(a, b); }
  static I maddubs(I unsigned_bytes, I signed_bytes) { return _mm256_maddubs_epi16(unsigned_bytes, signed_bytes); }
  static I madd(I a, I b) { return _mm256_madd_epi16(a, b); }
  template <int kBits>
  static I shift_right16(I a) {
    return _mm256_srli_epi16(a, kBits);
  }
  template <int kBits>
  static I shift_left32(I a) {
    return _mm256_slli_epi32(a, kBits);
  }
  static I sign_extend_bytes(I a) { return _mm256_srai_epi32(_mm256_slli_epi32(a, 24), 24); }  // of each lane's low byte
  template <int kBits>
  static I shift_right32(I a) {
    return _mm256_srai_epi32(a, kBits);
  }
  static F div(F a, F b) { return _mm256_div_ps(a, b); }
  static F min(F a, F b) { return _mm256_min_ps(a, b); }
  static F max(F a, F b) { return _mm256_max_ps(a, b); }
  static F fnma(F a, F b, F c) { return _mm256_fnmadd_ps(a, b, c); }  // c - a * b
  static I to_ints(F a) { return _mm256_cvtps_epi32(a); }             // nearest, ties to even
  static I int_sub(I a, I b) { return _mm256_sub_epi32(a, b); }
  static I int_max(I a, I b) { return _mm256_max_epi32(a, b); }
  static I as_ints(F a) { return _mm256_castps_si256(a); }
  static int32_t sum_of(I a) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
  }
  static int32_t max_of(I a) {
    __m128i s = _mm_max_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    s = _mm_max_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    return _mm_cvtsi128_si32(_mm_max_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
  }
  static void store_bytes(std::byte* to, I a) {
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
  }

  static I first_lanes(int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  // The first `count` lanes only.
  static void store(float* to, F value, int64_t count) {
    if (count >= kCount) {
      _mm256_storeu_ps(to, value);
    } else if (count > 0) {
      _mm256_maskstore_ps(to, first_lanes(count), value);
    }
  }
  static F load_some(const float* from, int64_t count) {
    if (count >= kCount) return _mm256_loadu_ps(from);
    return count <= 0 ? zero() : _mm256_maskload_ps(from, first_lanes(count));
  }
};
