// Bodies of rope and of the cache writes. Included inside a namespace of an instruction set behind its vec_*.inl.h.
// y = x * cos + partner * (-sin or sin): each element is a product, then one fused step (two rounded ones in portable C++), in the
// vector part and in the tail alike.
inline float turn_first(float a, float b, float c, float s) {
  float lanes[16];
  store(lanes, fma(set1(b), set1(-s), mul(set1(a), set1(c))));
  return lanes[0];
}
inline float turn_second(float a, float b, float c, float s) {
  float lanes[16];
  store(lanes, fma(set1(a), set1(s), mul(set1(b), set1(c))));
  return lanes[0];
}

inline void turn_halves(const TurnArgs& args) {
  const float *x = args.x, *z = args.x + args.pairs;
  int64_t i = 0;
  for (; i + 16 <= args.pairs; i += 16) {
    const Vec a = load(x + i), b = load(z + i), c = load(args.cosines + i), s = load(args.sines + i);
    store(args.y + i, fma(b, sub(zero(), s), mul(a, c)));
    store(args.y + args.pairs + i, fma(a, s, mul(b, c)));
  }
  for (; i < args.pairs; ++i) {
    const float a = x[i], b = z[i];
    args.y[i] = turn_first(a, b, args.cosines[i], args.sines[i]);
    args.y[args.pairs + i] = turn_second(a, b, args.cosines[i], args.sines[i]);
  }
}

inline void turn_interleaved(const TurnArgs& args) {
  int64_t i = 0;
  for (; i + 8 <= args.pairs; i += 8) {
    const Vec x = load(args.x + 2 * i), c = load_doubled(args.cosines + i), s = negate_even(load_doubled(args.sines + i));
    store(args.y + 2 * i, fma(swap_pairs(x), s, mul(x, c)));
  }
  for (; i < args.pairs; ++i) {
    const float a = args.x[2 * i], b = args.x[2 * i + 1];
    args.y[2 * i] = turn_first(a, b, args.cosines[i], args.sines[i]);
    args.y[2 * i + 1] = turn_second(a, b, args.cosines[i], args.sines[i]);
  }
}

inline void turn(const TurnArgs& args) {
  if (args.interleaved) {
    turn_interleaved(args);
  } else {
    turn_halves(args);
  }
  for (int64_t i = 2 * args.pairs; i < args.head_dim; ++i) args.y[i] = args.x[i];
}

constexpr int64_t kSlots = 16;  // tokens a block

inline void write_half(const WriteArgs& args) {
  auto* keys = static_cast<uint16_t*>(args.key_slot);
  auto* values = static_cast<uint16_t*>(args.value_slot);
  for (int64_t i = 0; i < args.head_dim; i += 16) {
    const int n = args.head_dim - i < 16 ? static_cast<int>(args.head_dim - i) : 16;
    uint16_t lanes[16];
    store(lanes, load_n(args.key + i, n));
    for (int lane = 0; lane < n; ++lane) keys[(i + lane) * kSlots] = lanes[lane];
    store(lanes, load_n(args.value + i, n));
    for (int lane = 0; lane < n; ++lane) values[i + lane] = lanes[lane];
  }
}

inline void write(const WriteArgs& args) {
  if (args.half) {
    write_half(args);
    return;
  }
  auto* keys = static_cast<float*>(args.key_slot);
  auto* values = static_cast<float*>(args.value_slot);
  for (int64_t i = 0; i < args.head_dim; ++i) {
    keys[i * kSlots] = args.key[i];
    values[i] = args.value[i];
  }
}
