// Rotary embedding and cache writes as the instruction sets offer them. Included by rope.cc and rope_<isa>.cc.
struct TurnArgs {
  const float* x;  // one head
  float* y;        // may be x
  const float* cosines;
  const float* sines;
  int64_t pairs;
  int64_t head_dim;
  bool interleaved;  // pairs (2i, 2i + 1), else (i, i + pairs)
};

// One head of one token into its slot of a block: keys every 16 elements, values side by side.
struct WriteArgs {
  const float* key;
  const float* value;
  void* key_slot;
  void* value_slot;
  int64_t head_dim;
  bool half;  // f16, else f32
};

struct RopeFunctions {
  void (*turn)(const TurnArgs& args);
  void (*write)(const WriteArgs& args);
};

extern const RopeFunctions kRopeGeneric, kRopeAvx2, kRopeAvx512;
