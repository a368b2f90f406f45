// Attention as the instruction sets offer it. Included by attention.cc and attention_<isa>.cc.
//
// A query vector is one head of one row. A tile is the query vectors of some rows of one sequence that share a KV head: vector
// i is row i / group, head i % group of the group. A record is what a vector has gathered from some keys: the largest score, the
// sum of weights, then (from element 16 on) the weighted sum of values [head_dim].
constexpr int64_t kBlockKeys = 16;
constexpr int64_t kSplitKeys = 256;
constexpr int64_t kRecordHead = 16;
constexpr int64_t kConvertBlocks = 4;  // blocks turned to f32 at a time: 16 KiB at head_dim 64, they stay in the first cache

struct AttentionTile {
  const float* q;  // first row, first head of the group
  int64_t q_stride;
  float* y;
  int64_t y_stride;
  int64_t group;            // heads that share the KV head
  int64_t first_position;   // of row 0
  int64_t begin, end;       // the vectors to do
  int64_t head_dim;         // a multiple of 16
  float scale;              // times log2(e)
  const std::byte* keys;    // block b: keys + b * block_bytes, [head_dim][16]
  const std::byte* values;  // likewise, [16][head_dim]
  int64_t block_bytes;
  const int32_t* blocks;
  bool half;  // f16, else f32
  float* scratch;
};

// Scratch of a worker, in floats, for at most `vectors` vectors: scaled queries, scores, records twice, converted blocks.
constexpr int64_t scratch_floats(int64_t vectors, int64_t head_dim) {
  return vectors * (head_dim + kSplitKeys + 2 * (kRecordHead + head_dim)) + kConvertBlocks * kBlockKeys * head_dim;
}

struct AttentionFunctions {
  // Every key up to each row's position; writes y.
  void (*run_tile)(const AttentionTile& tile);
  // One split of the keys; vector i's record goes to records + (i * record_stride).
  void (*run_split)(const AttentionTile& tile, int64_t split, float* records, int64_t record_stride);
  // Adds a later split's record to an earlier one's; and the result of a record.
  void (*merge)(float* record, const float* later, int64_t head_dim);
  void (*finish)(const float* record, int64_t head_dim, float* y);
};

extern const AttentionFunctions kAttentionGeneric, kAttentionAvx2, kAttentionAvx512;
