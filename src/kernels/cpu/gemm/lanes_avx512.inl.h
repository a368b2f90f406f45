// 16 lanes of 32 bits. Included inside a namespace of an instruction set.

struct Lanes {
  using F = __m512;
  using I = __m512i;
  static constexpr int kCount = 16;

  static F zero() { return _mm512_setzero_ps(); }
  static F set(float value) { return _mm512_set1_ps(value); }
  static F load(const void* from) { return _mm512_loadu_ps(from); }
  static F load_f16(const std::byte* from) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))); }
  static F broadcast(const std::byte* from) { return _mm512_set1_ps(*reinterpret_cast<const float*>(from)); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F add(F a, F b) { return _mm512_add_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F from_ints(I a) { return _mm512_cvtepi32_ps(a); }
  static F as_floats(I a) { return _mm512_castsi512_ps(a); }

  static I int_zero() { return _mm512_setzero_si512(); }
  static I int_set(int32_t value) { return _mm512_set1_epi32(value); }
  static I int_load(const void* from) { return _mm512_loadu_si512(from); }
  static void int_store(std::byte* to, I a) { _mm512_storeu_si512(to, a); }
  static I int_broadcast(const std::byte* from) { return _mm512_set1_epi32(*reinterpret_cast<const int32_t*>(from)); }
  static I int_add(I a, I b) { return _mm512_add_epi32(a, b); }
  static I int_and(I a, I b) { return _mm512_and_si512(a, b); }
  static I int_add16(I a, I b) { return _mm512_add_epi16(a, b); }
  static I maddubs(I unsigned_bytes, I signed_bytes) { return _mm512_maddubs_epi16(unsigned_bytes, signed_bytes); }
  static I madd(I a, I b) { return _mm512_madd_epi16(a, b); }
  template <int kBits>
  static I shift_right16(I a) {
    return _mm512_srli_epi16(a, kBits);
  }
  template <int kBits>
  static I shift_left32(I a) {
    return _mm512_slli_epi32(a, kBits);
  }

  static I sign_extend_bytes(I a) { return _mm512_srai_epi32(_mm512_slli_epi32(a, 24), 24); }  // of each lane's low byte
  template <int kBits>
  static I shift_right32(I a) {
    return _mm512_srai_epi32(a, kBits);
  }
  static F div(F a, F b) { return _mm512_div_ps(a, b); }
  static F min(F a, F b) { return _mm512_min_ps(a, b); }
  static F max(F a, F b) { return _mm512_max_ps(a, b); }
  static F fnma(F a, F b, F c) { return _mm512_fnmadd_ps(a, b, c); }  // c - a * b
  static I to_ints(F a) { return _mm512_cvtps_epi32(a); }             // nearest, ties to even
  static I int_sub(I a, I b) { return _mm512_sub_epi32(a, b); }
  static I int_max(I a, I b) { return _mm512_max_epi32(a, b); }
  static I as_ints(F a) { return _mm512_castps_si512(a); }
  static int32_t sum_of(I a) { return _mm512_reduce_add_epi32(a); }
  static int32_t max_of(I a) { return _mm512_reduce_max_epi32(a); }
  static void store_bytes(std::byte* to, I a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtsepi32_epi8(a)); }

  // The first `count` lanes only.
  static void store(float* to, F value, int64_t count) {
    if (count >= kCount) {
      _mm512_storeu_ps(to, value);
    } else if (count > 0) {
      _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1), value);
    }
  }
  static F load_some(const float* from, int64_t count) {
    if (count >= kCount) return _mm512_loadu_ps(from);
    return count <= 0 ? zero() : _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), from);
  }
};
