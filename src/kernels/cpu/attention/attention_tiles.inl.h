// Register tiles of attention: scores of a few query vectors against blocks of 16 keys, and sums of values. Included inside a
// namespace of an instruction set behind its vec_*.inl.h. Blocks are f32 or f16 (T); each score and each sum is one chain of
// multiply-adds in ascending dimension or token, whatever the tile.

// Vectors a tile, and vectors of 16 columns a tile of sums: 24 sums in 32 registers, 6 times 2 in 16, 3 times 4 in 16.
constexpr bool kManyRegisters = kRegisterLanes == 16;
constexpr int64_t kScoreVectors = kManyRegisters ? 12 : kRegisterLanes == 8 ? 6 : 3;
constexpr int64_t kSumVectors = kManyRegisters ? 6 : 3;
constexpr int64_t kSumColumns = kManyRegisters ? 4 : kRegisterLanes == 8 ? 2 : 1;

// scores[q][0..16 * kBlocks) for kQ vectors; q rows lie head_dim apart, score rows kSplitKeys. kDim is head_dim where it is a usual
// one (then the rows of q need no pointers of their own), else 0.
template <int kQ, int kBlocks, int kDim, typename T>
inline void score_tile(const float* q, int64_t any_dim, const T* const* blocks, float* scores) {
  const int64_t head_dim = kDim > 0 ? kDim : any_dim;
  Vec sums[kQ][kBlocks];
#pragma GCC unroll 16
  for (int i = 0; i < kQ; ++i) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) sums[i][b] = zero();
  }
  for (int64_t d = 0; d < head_dim; ++d) {
    Vec keys[kBlocks];
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) keys[b] = load(blocks[b] + d * kBlockKeys);
#pragma GCC unroll 16
    for (int i = 0; i < kQ; ++i) {
      const Vec x = set1(q[i * head_dim + d]);
#pragma GCC unroll 4
      for (int b = 0; b < kBlocks; ++b) sums[i][b] = fma(x, keys[b], sums[i][b]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kQ; ++i) {
#pragma GCC unroll 4
    for (int b = 0; b < kBlocks; ++b) store(scores + i * kSplitKeys + b * kBlockKeys, sums[i][b]);
  }
}

template <int kQ, int kBlocks, typename T>
inline void score_blocks(const float* q, int64_t head_dim, const T* const* blocks, int64_t num_blocks, float* scores) {
  int64_t b = 0;
  for (; b + kBlocks <= num_blocks; b += kBlocks) {
    if (head_dim == 64) {
      score_tile<kQ, kBlocks, 64>(q, head_dim, blocks + b, scores + b * kBlockKeys);
    } else {
      score_tile<kQ, kBlocks, 0>(q, head_dim, blocks + b, scores + b * kBlockKeys);
    }
  }
  for (; b < num_blocks; ++b) score_tile<kQ, 1, 0>(q, head_dim, blocks + b, scores + b * kBlockKeys);
}

// Any number of vectors up to kScoreVectors.
template <typename T>
inline void score_vectors(const float* q, int64_t n, int64_t head_dim, const T* const* blocks, int64_t num_blocks, float* scores) {
  while (n > 0) {
    int64_t done;
    if (kScoreVectors >= 12 && n >= 12) {
      score_blocks<12, 2>(q, head_dim, blocks, num_blocks, scores);
      done = 12;
    } else if (kScoreVectors >= 6 && n >= 6) {
      score_blocks<6, kManyRegisters ? 4 : 1>(q, head_dim, blocks, num_blocks, scores);
      done = 6;
    } else if (kScoreVectors >= 12 && n >= 4) {
      score_blocks<4, 4>(q, head_dim, blocks, num_blocks, scores);
      done = 4;
    } else if (n >= 3) {
      score_blocks<3, kManyRegisters ? 4 : kScoreVectors / 3>(q, head_dim, blocks, num_blocks, scores);
      done = 3;
    } else if (n == 2) {
      score_blocks<2, kManyRegisters ? 4 : kScoreVectors / 3>(q, head_dim, blocks, num_blocks, scores);
      done = 2;
    } else {
      score_blocks<1, kManyRegisters ? 4 : kScoreVectors / 3>(q, head_dim, blocks, num_blocks, scores);
      done = 1;
    }
    n -= done;
    q += done * head_dim;
    scores += done * kSplitKeys;
  }
}

// sums[q][0..16 * kColumns) += weights[q][token] * values[token]; `sums` points into the first record.
template <int kQ, int kColumns, typename T>
inline void sum_tile(const float* weights, int64_t tokens, int64_t head_dim, const T* const* blocks, int64_t column, float* sums,
                     int64_t record_stride) {
  Vec total[kQ][kColumns];
#pragma GCC unroll 16
  for (int i = 0; i < kQ; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) total[i][c] = load(sums + i * record_stride + column + c * 16);
  }
  for (int64_t first = 0; first < tokens; first += kBlockKeys) {
    const T* value = blocks[first / kBlockKeys] + column;
    const int64_t last = tokens < first + kBlockKeys ? tokens : first + kBlockKeys;
    for (int64_t token = first; token < last; ++token, value += head_dim) {
      Vec x[kColumns];
#pragma GCC unroll 4
      for (int c = 0; c < kColumns; ++c) x[c] = load(value + c * 16);
#pragma GCC unroll 16
      for (int i = 0; i < kQ; ++i) {
        const Vec weight = set1(weights[i * kSplitKeys + token]);
#pragma GCC unroll 4
        for (int c = 0; c < kColumns; ++c) total[i][c] = fma(weight, x[c], total[i][c]);
      }
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kQ; ++i) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) store(sums + i * record_stride + column + c * 16, total[i][c]);
  }
}

template <int kQ, typename T>
inline void sum_columns(const float* weights, int64_t tokens, int64_t head_dim, const T* const* blocks, float* sums,
                        int64_t record_stride) {
  int64_t column = 0;
  for (; column + 16 * kSumColumns <= head_dim; column += 16 * kSumColumns) {
    sum_tile<kQ, kSumColumns>(weights, tokens, head_dim, blocks, column, sums, record_stride);
  }
  for (; column < head_dim; column += 16) sum_tile<kQ, 1>(weights, tokens, head_dim, blocks, column, sums, record_stride);
}

// Any number of vectors up to kSumVectors.
template <typename T>
inline void sum_vectors(const float* weights, int64_t n, int64_t tokens, int64_t head_dim, const T* const* blocks, float* sums,
                        int64_t record_stride) {
  while (n > 0) {
    int64_t done;
    if (kSumVectors >= 6 && n >= 6) {
      sum_columns<6>(weights, tokens, head_dim, blocks, sums, record_stride);
      done = 6;
    } else if (n >= 3) {
      sum_columns<3>(weights, tokens, head_dim, blocks, sums, record_stride);
      done = 3;
    } else if (n == 2) {
      sum_columns<2>(weights, tokens, head_dim, blocks, sums, record_stride);
      done = 2;
    } else {
      sum_columns<1>(weights, tokens, head_dim, blocks, sums, record_stride);
      done = 1;
    }
    n -= done;
    weights += done * kSplitKeys;
    sums += done * record_stride;
  }
}
