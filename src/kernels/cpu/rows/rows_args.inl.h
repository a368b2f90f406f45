// Ops over single rows, as the instruction sets offer them: plain structs and functions. Included by rows.cc and rows_<isa>.cc.
struct RmsNormArgs {
  const float* x;
  const float* other;  // added to x first, or null
  float* sum;          // x + other
  const float* weight;
  float* y;
  int64_t columns;
  float eps;
};

struct RowFunctions {
  void (*rms_norm)(const RmsNormArgs& args);
  void (*swiglu)(const float* gate, const float* up, float* y, int64_t n);
};

extern const RowFunctions kRowsGeneric, kRowsAvx2, kRowsAvx512;
