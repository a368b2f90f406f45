// Elements of the paged cache, one by one, in either format and key order; and a row's place in the batch. For the references.
#pragma once

#include <cstring>

#include "kernels/kernel.h"
#include "tensor/dtype.h"

namespace camshaft::kernels {

// One KV head of one layer of one sequence.
class KvHead {
 public:
  KvHead(const ops::KvLayout& layout, const BatchView& batch, const SequenceSlice& sequence, int64_t layer, int64_t kv_head)
      : layout_(layout),
        base_(batch.kv_base),
        blocks_(sequence.blocks),
        key_offset_(layout.key_offset(layer, kv_head)),
        value_offset_(layout.value_offset(layer, kv_head)) {}

  float key(int64_t position, int64_t dim) const { return read(key_at(position, dim)); }
  float value(int64_t position, int64_t dim) const { return read(value_at(position, dim)); }
  void set_key(int64_t position, int64_t dim, float x) { write(key_at(position, dim), x); }
  void set_value(int64_t position, int64_t dim, float x) { write(value_at(position, dim), x); }

 private:
  static constexpr int64_t kBlock = ops::KvLayout::kBlockTokens;

  std::byte* block_at(int64_t position) const { return base_ + blocks_[position / kBlock] * layout_.block_bytes(); }
  std::byte* key_at(int64_t position, int64_t dim) const {
    const int64_t slot = position % kBlock;
    const bool dim_major = layout_.key_order == ops::KvLayout::KeyOrder::kDimMajor;
    const int64_t index = dim_major ? dim * kBlock + slot : slot * layout_.head_dim + dim;
    return block_at(position) + key_offset_ + index * layout_.element_bytes();
  }
  std::byte* value_at(int64_t position, int64_t dim) const {
    return block_at(position) + value_offset_ + (position % kBlock * layout_.head_dim + dim) * layout_.element_bytes();
  }

  float read(const std::byte* at) const {
    if (layout_.format == tensor::Format::kF32) {
      float x;
      memcpy(&x, at, sizeof(x));
      return x;
    }
    uint16_t half;
    memcpy(&half, at, sizeof(half));
    return tensor::f16_to_f32(half);
  }
  void write(std::byte* at, float x) const {
    if (layout_.format == tensor::Format::kF32) {
      memcpy(at, &x, sizeof(x));
      return;
    }
    const uint16_t half = tensor::f32_to_f16(x);
    memcpy(at, &half, sizeof(half));
  }

  const ops::KvLayout& layout_;
  std::byte* base_;
  const int32_t* blocks_;
  int64_t key_offset_;
  int64_t value_offset_;
};

// The sequence that a batch row belongs to.
inline const SequenceSlice& sequence_of(const BatchView& batch, int64_t row) {
  const SequenceSlice* sequence = batch.sequences;
  while (row >= sequence->first_row + sequence->num_rows) ++sequence;
  return *sequence;
}

}  // namespace camshaft::kernels
