// 16 f32 lanes in portable C++ (compiler vectors of four). Included inside a namespace of an instruction set, like its siblings,
// which offer the same functions; no fused multiply-add here.
typedef float Float4 __attribute__((vector_size(16)));
typedef int32_t Int4 __attribute__((vector_size(16)));

constexpr int kRegisterLanes = 4;

struct Vec {
  Float4 part[4];
};

inline Vec set1(float x) {
  const Float4 part = {x, x, x, x};
  return {{part, part, part, part}};
}
inline Vec zero() { return set1(0.0f); }
inline Vec load(const float* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}
inline void store(float* p, Vec v) { __builtin_memcpy(p, &v, sizeof(v)); }
inline Vec load_n(const float* p, int n) {
  Vec v = zero();
  __builtin_memcpy(&v, p, static_cast<size_t>(n) * sizeof(float));
  return v;
}
inline void store_n(float* p, Vec v, int n) { __builtin_memcpy(p, &v, static_cast<size_t>(n) * sizeof(float)); }

inline float half_to_float(uint16_t half) {
  const uint32_t magnitude = half & 0x7fffu;
  // Read as f32 the exponent is 112 too small; the product also normalises small halves.
  uint32_t bits = magnitude << 13;
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  value *= 0x1p112f;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  if (magnitude >= 0x7c00u) bits |= 0x7f800000u;
  bits |= (half & 0x8000u) << 16;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}
inline uint16_t float_to_half(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 16 & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (bits >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (bits < 0x38800000u) {  // subnormal: adding 0.5 leaves units of 2^-24, rounded to even
    float small;
    __builtin_memcpy(&small, &bits, sizeof(small));
    small += 0.5f;
    __builtin_memcpy(&bits, &small, sizeof(bits));
    return static_cast<uint16_t>(sign | (bits - 0x3f000000u));
  }
  bits += 0xfffu + (bits >> 13 & 1u) - (112u << 23);
  return static_cast<uint16_t>(sign | bits >> 13);
}

inline Vec load(const uint16_t* p) {
  float lanes[16];
  for (int i = 0; i < 16; ++i) lanes[i] = half_to_float(p[i]);
  return load(lanes);
}
inline void store(uint16_t* p, Vec v) {
  float lanes[16];
  store(lanes, v);
  for (int i = 0; i < 16; ++i) p[i] = float_to_half(lanes[i]);
}

inline Vec add(Vec a, Vec b) {
  for (int i = 0; i < 4; ++i) a.part[i] += b.part[i];
  return a;
}
inline Vec sub(Vec a, Vec b) {
  for (int i = 0; i < 4; ++i) a.part[i] -= b.part[i];
  return a;
}
inline Vec mul(Vec a, Vec b) {
  for (int i = 0; i < 4; ++i) a.part[i] *= b.part[i];
  return a;
}
inline Vec div(Vec a, Vec b) {
  for (int i = 0; i < 4; ++i) a.part[i] /= b.part[i];
  return a;
}
// a * b + c
inline Vec fma(Vec a, Vec b, Vec c) { return add(mul(a, b), c); }
inline Vec max_of(Vec a, Vec b) {
  for (int i = 0; i < 4; ++i) a.part[i] = a.part[i] > b.part[i] ? a.part[i] : b.part[i];
  return a;
}
inline Vec min_of(Vec a, Vec b) {
  for (int i = 0; i < 4; ++i) a.part[i] = a.part[i] < b.part[i] ? a.part[i] : b.part[i];
  return a;
}
// Lanes below n from a, the others from b.
inline Vec first_n(Vec a, Vec b, int n) {
  const Int4 lane = {0, 1, 2, 3};
  for (int i = 0; i < 4; ++i) a.part[i] = lane + 4 * i < n ? a.part[i] : b.part[i];
  return a;
}
inline float sum(Vec v) {
  const Float4 s = (v.part[0] + v.part[2]) + (v.part[1] + v.part[3]);
  return (s[0] + s[2]) + (s[1] + s[3]);
}
inline float max_lane(Vec v) {
  float lanes[16];
  store(lanes, v);
  float best = lanes[0];
  for (int i = 1; i < 16; ++i) best = lanes[i] > best ? lanes[i] : best;
  return best;
}
// Adds the lowest nine bits of `power`, a signed number, to the exponents of v.
inline Vec add_to_exponent(Vec v, Vec power) {
  for (int i = 0; i < 4; ++i) {
    v.part[i] = reinterpret_cast<Float4>(reinterpret_cast<Int4>(v.part[i]) + (reinterpret_cast<Int4>(power.part[i]) << 23));
  }
  return v;
}
inline Vec zero_below(Vec v, Vec x, float limit) {
  for (int i = 0; i < 4; ++i) v.part[i] = x.part[i] >= limit ? v.part[i] : Float4{};
  return v;
}

// p[0] p[0] p[1] p[1] ... p[7] p[7]
inline Vec load_doubled(const float* p) {
  Vec v;
  for (int i = 0; i < 4; ++i) v.part[i] = Float4{p[2 * i], p[2 * i], p[2 * i + 1], p[2 * i + 1]};
  return v;
}
inline Vec swap_pairs(Vec v) {
  for (int i = 0; i < 4; ++i) v.part[i] = Float4{v.part[i][1], v.part[i][0], v.part[i][3], v.part[i][2]};
  return v;
}
inline Vec negate_even(Vec v) {
  for (int i = 0; i < 4; ++i) v.part[i] = Float4{-v.part[i][0], v.part[i][1], -v.part[i][2], v.part[i][3]};
  return v;
}
inline float square_root(float x) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(x))); }
