// Bodies of the row ops over 16 lanes. Included inside a namespace of an instruction set behind its vec_*.inl.h.

// The row's squares are summed in four vectors (columns 0-15, 16-31, 32-47, 48-63 of each 64), then across: one order for every
// row.
inline void rms_norm(const RmsNormArgs& args) {
  const float* x = args.x;
  if (args.other != nullptr) {
    int64_t i = 0;
    for (; i + 16 <= args.columns; i += 16) store(args.sum + i, add(load(x + i), load(args.other + i)));
    const int rest = static_cast<int>(args.columns - i);
    if (rest > 0) store_n(args.sum + i, add(load_n(x + i, rest), load_n(args.other + i, rest)), rest);
    x = args.sum;
  }
  Vec squares[4] = {zero(), zero(), zero(), zero()};
  int64_t i = 0;
  for (; i + 64 <= args.columns; i += 64) {
    for (int part = 0; part < 4; ++part) {
      const Vec v = load(x + i + 16 * part);
      squares[part] = fma(v, v, squares[part]);
    }
  }
  for (int part = 0; i < args.columns; i += 16, ++part) {
    const int64_t left = args.columns - i;
    const Vec v = load_n(x + i, left < 16 ? static_cast<int>(left) : 16);
    squares[part] = fma(v, v, squares[part]);
  }
  const float total = sum(add(add(squares[0], squares[2]), add(squares[1], squares[3])));
  const Vec factor = set1(1.0f / square_root(total / static_cast<float>(args.columns) + args.eps));
  for (i = 0; i + 16 <= args.columns; i += 16) store(args.y + i, mul(mul(load(x + i), factor), load(args.weight + i)));
  const int rest = static_cast<int>(args.columns - i);
  if (rest > 0) store_n(args.y + i, mul(mul(load_n(x + i, rest), factor), load_n(args.weight + i, rest)), rest);
}

inline Vec swiglu_lanes(Vec gate, Vec up) {
  constexpr float kLog2E = 1.44269504f;
  const Vec decay = exp2(min_of(mul(gate, set1(-kLog2E)), set1(126.0f)));
  return mul(div(gate, add(set1(1.0f), decay)), up);
}

inline void swiglu(const float* gate, const float* up, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) store(y + i, swiglu_lanes(load(gate + i), load(up + i)));
  const int rest = static_cast<int>(n - i);
  if (rest > 0) store_n(y + i, swiglu_lanes(load_n(gate + i, rest), load_n(up + i, rest)), rest);
}
