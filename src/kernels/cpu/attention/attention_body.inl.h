// Attention of one tile: a split of 256 keys at a time gives each vector a record, records are merged in ascending order. A
// vector's record of a split depends on nothing but its query and the keys up to its position, so tiles, chunks and decode agree
// bitwise: keys behind a position weigh exactly 0. Included inside a namespace of an instruction set behind the tiles.

// Where the parts of the scratch are; vector i of the tile has index i - tile.begin in each.
struct Scratch {
  float* queries;    // [vectors][head_dim], scaled
  float* scores;     // [vectors][kSplitKeys], then weights
  float* records;    // [vectors][record]: all splits so far
  float* later;      // [vectors][record]: this split
  float* converted;  // [kConvertBlocks][16 * head_dim]
};

inline Scratch scratch_of(const AttentionTile& tile) {
  const int64_t vectors = tile.end - tile.begin, record = kRecordHead + tile.head_dim;
  Scratch s;
  s.queries = tile.scratch;
  s.scores = s.queries + vectors * tile.head_dim;
  s.records = s.scores + vectors * kSplitKeys;
  s.later = s.records + vectors * record;
  s.converted = s.later + vectors * record;
  return s;
}

inline void scale_queries(const AttentionTile& tile, float* out) {
  const Vec scale = set1(tile.scale);
  for (int64_t i = tile.begin; i < tile.end; ++i) {
    const float* q = tile.q + i / tile.group * tile.q_stride + i % tile.group * tile.head_dim;
    for (int64_t d = 0; d < tile.head_dim; d += 16, out += 16) store(out, mul(load(q + d), scale));
  }
}

inline int64_t position_of(const AttentionTile& tile, int64_t vector) { return tile.first_position + vector / tile.group; }

inline int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

// Scores of vectors [begin, end) against blocks first_block... (counted within the split), as far as each group of vectors needs
// them.
template <typename T>
inline void score_part(const AttentionTile& tile, const Scratch& s, int64_t begin, int64_t split, const T* const* blocks,
                       int64_t first_block, int64_t num_blocks) {
  for (int64_t i = begin; i < tile.end; i += kScoreVectors) {
    const int64_t n = at_most(kScoreVectors, tile.end - i);
    const int64_t keys = position_of(tile, i + n - 1) + 1 - split * kSplitKeys - first_block * kBlockKeys;
    const int64_t needed = at_most((keys + kBlockKeys - 1) / kBlockKeys, num_blocks);
    if (needed <= 0) continue;
    score_vectors(s.queries + (i - tile.begin) * tile.head_dim, n, tile.head_dim, blocks, needed,
                  s.scores + (i - tile.begin) * kSplitKeys + first_block * kBlockKeys);
  }
}

template <typename T>
inline void sum_part(const AttentionTile& tile, const Scratch& s, int64_t begin, int64_t split, const T* const* blocks,
                     int64_t first_block, int64_t num_blocks, float* records, int64_t record_stride) {
  for (int64_t i = begin; i < tile.end; i += kSumVectors) {
    const int64_t n = at_most(kSumVectors, tile.end - i);
    const int64_t keys = position_of(tile, i + n - 1) + 1 - split * kSplitKeys - first_block * kBlockKeys;
    const int64_t tokens = at_most(keys, num_blocks * kBlockKeys);
    if (tokens <= 0) continue;
    sum_vectors(s.scores + (i - tile.begin) * kSplitKeys + first_block * kBlockKeys, n, tokens, tile.head_dim, blocks,
                records + (i - tile.begin) * record_stride + kRecordHead, record_stride);
  }
}

// The largest of the first `valid` scores.
inline float largest_score(const float* scores, int64_t valid) {
  const Vec lowest = set1(-__builtin_inff());
  const int64_t whole = valid / 16 * 16;
  Vec best = lowest, other = lowest;
  int64_t k = 0;
  for (; k + 32 <= whole; k += 32) {
    best = max_of(best, load(scores + k));
    other = max_of(other, load(scores + k + 16));
  }
  if (k < whole) best = max_of(best, load(scores + k));
  if (whole < valid) other = max_of(other, first_n(load(scores + whole), lowest, static_cast<int>(valid - whole)));
  return max_lane(max_of(best, other));
}

// Scores to weights, 2^(score - largest), 0 for the keys behind the first `valid`; their sum.
inline float weigh(float* scores, float largest_one, int64_t valid, int64_t all) {
  const Vec largest = set1(largest_one);
  const int64_t whole = valid / 16 * 16;
  const int rest = static_cast<int>(valid - whole);
  Vec total = zero();
  for (int64_t k = 0; k < whole; k += 16) {
    const Vec weight = exp2(sub(load(scores + k), largest));
    total = add(total, weight);
    store(scores + k, weight);
  }
  int64_t done = whole;
  if (rest > 0) {
    const Vec weight = first_n(exp2(sub(load(scores + whole), largest)), zero(), rest);
    total = add(total, weight);
    store(scores + whole, weight);
    done += 16;
  }
  for (; done < all; done += 16) store(scores + done, zero());
  return sum(total);
}

inline void fetch(const void* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at, 0, 2);
}
inline void fetch_to_write(const void* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) __builtin_prefetch(static_cast<const char*>(from) + at, 1, 2);
}

// While weights are computed, the rows to be written and those that the next tile may read come nearer.
inline void fetch_rows(const AttentionTile& tile, int64_t vector) {
  const int64_t row = vector / tile.group, column = vector % tile.group * tile.head_dim, bytes = tile.head_dim * 4;
  fetch_to_write(tile.y + row * tile.y_stride + column, bytes);
  fetch(tile.q + (row + (tile.end + tile.group - 1) / tile.group) * tile.q_stride + column, bytes);
}

// Scores of vectors [begin, tile.end) to weights; the records' heads are set, their sums zeroed.
inline void weigh_all(const AttentionTile& tile, const Scratch& s, int64_t begin, int64_t first_key, int64_t all, float* records,
                      int64_t record_stride) {
  for (int64_t i = begin; i < tile.end; ++i) {
    float* record = records + (i - tile.begin) * record_stride;
    record[0] = largest_score(s.scores + (i - tile.begin) * kSplitKeys, at_most(kSplitKeys, position_of(tile, i) + 1 - first_key));
    for (int64_t d = 0; d < tile.head_dim; d += 16) store(record + kRecordHead + d, zero());
  }
  for (int64_t i = begin; i < tile.end; ++i) {
    float* record = records + (i - tile.begin) * record_stride;
    record[1] =
        weigh(s.scores + (i - tile.begin) * kSplitKeys, record[0], at_most(kSplitKeys, position_of(tile, i) + 1 - first_key), all);
    if (first_key == 0) fetch_rows(tile, i);
  }
}

// Blocks of the split as they are in the cache.
template <typename T>
inline void find_blocks(const AttentionTile& tile, const std::byte* base, int64_t split, int64_t num_blocks, const T** out) {
  const int32_t* blocks = tile.blocks + split * (kSplitKeys / kBlockKeys);
  for (int64_t b = 0; b < num_blocks; ++b) out[b] = reinterpret_cast<const T*>(base + blocks[b] * tile.block_bytes);
}

// Runs `part(blocks, first_block, num_blocks)` over blocks turned to f32 a few at a time.
template <typename Part>
inline void over_converted(const AttentionTile& tile, const Scratch& s, const uint16_t* const* blocks, int64_t num_blocks,
                           Part part) {
  const int64_t elements = kBlockKeys * tile.head_dim;
  for (int64_t first = 0; first < num_blocks; first += kConvertBlocks) {
    const int64_t n = at_most(kConvertBlocks, num_blocks - first);
    const float* converted[kConvertBlocks];
    for (int64_t b = 0; b < n; ++b) {
      float* out = s.converted + b * elements;
      for (int64_t i = 0; i < elements; i += 16) store(out + i, load(blocks[first + b] + i));
      converted[b] = out;
    }
    for (int64_t b = first + n; b < at_most(first + n + kConvertBlocks, num_blocks); ++b) fetch(blocks[b], elements * 2);
    part(converted, first, n);
  }
}

// Records of vectors [begin, tile.end) for one split.
template <typename T>
inline void run_split_of(const AttentionTile& tile, const Scratch& s, int64_t begin, int64_t split, float* records,
                         int64_t record_stride) {
  const int64_t first_key = split * kSplitKeys;
  const int64_t keys = at_most(kSplitKeys, position_of(tile, tile.end - 1) + 1 - first_key);
  const int64_t num_blocks = (keys + kBlockKeys - 1) / kBlockKeys;
  const T* blocks[kSplitKeys / kBlockKeys];
  // Converting pays where each block is used by more than one register tile.
  const bool convert = sizeof(T) == 2 && tile.end - begin > kScoreVectors;
  const auto score = [&](const auto* const* part, int64_t first, int64_t n) { score_part(tile, s, begin, split, part, first, n); };
  const auto add_values = [&](const auto* const* part, int64_t first, int64_t n) {
    sum_part(tile, s, begin, split, part, first, n, records, record_stride);
  };
  find_blocks(tile, tile.keys, split, num_blocks, blocks);
  if constexpr (sizeof(T) == 2) {
    if (convert) over_converted(tile, s, blocks, num_blocks, score);
  }
  if (!convert) score(blocks, 0, num_blocks);
  weigh_all(tile, s, begin, first_key, num_blocks * kBlockKeys, records, record_stride);
  find_blocks(tile, tile.values, split, num_blocks, blocks);
  if constexpr (sizeof(T) == 2) {
    if (convert) over_converted(tile, s, blocks, num_blocks, add_values);
  }
  if (!convert) add_values(blocks, 0, num_blocks);
}

inline void run_any_split(const AttentionTile& tile, const Scratch& s, int64_t begin, int64_t split, float* records,
                          int64_t record_stride) {
  if (tile.half) {
    run_split_of<uint16_t>(tile, s, begin, split, records, record_stride);
  } else {
    run_split_of<float>(tile, s, begin, split, records, record_stride);
  }
}

inline void merge(float* record, const float* later, int64_t head_dim) {
  const float largest = record[0] > later[0] ? record[0] : later[0];
  const Vec keep = exp2(sub(set1(record[0]), set1(largest))), join = exp2(sub(set1(later[0]), set1(largest)));
  float lanes[16];
  store(lanes, fma(set1(later[1]), join, mul(set1(record[1]), keep)));
  record[0] = largest;
  record[1] = lanes[0];
  for (int64_t d = kRecordHead; d < kRecordHead + head_dim; d += 16) {
    store(record + d, fma(load(later + d), join, mul(load(record + d), keep)));
  }
}

inline void finish(const float* record, int64_t head_dim, float* y) {
  const Vec factor = set1(1.0f / record[1]);
  for (int64_t d = 0; d < head_dim; d += 16) store(y + d, mul(load(record + kRecordHead + d), factor));
}

inline void run_split(const AttentionTile& tile, int64_t split, float* records, int64_t record_stride) {
  const Scratch s = scratch_of(tile);
  scale_queries(tile, s.queries);
  run_any_split(tile, s, tile.begin, split, records, record_stride);
}

inline void run_tile(const AttentionTile& tile) {
  const Scratch s = scratch_of(tile);
  const int64_t record = kRecordHead + tile.head_dim;
  scale_queries(tile, s.queries);
  run_any_split(tile, s, tile.begin, 0, s.records, record);
  const int64_t last_split = position_of(tile, tile.end - 1) / kSplitKeys;
  for (int64_t split = 1; split <= last_split; ++split) {
    // Rows are in ascending position: those in front of the split's keys have all they need.
    const int64_t first = (split * kSplitKeys - tile.first_position) * tile.group;
    const int64_t begin = first > tile.begin ? first : tile.begin;
    run_any_split(tile, s, begin, split, s.later, record);
    for (int64_t i = begin - tile.begin; i < tile.end - tile.begin; ++i)
      merge(s.records + i * record, s.later + i * record, tile.head_dim);
  }
  for (int64_t i = tile.begin; i < tile.end; ++i) {
    finish(s.records + (i - tile.begin) * record, tile.head_dim,
           tile.y + i / tile.group * tile.y_stride + i % tile.group * tile.head_dim);
  }
}
