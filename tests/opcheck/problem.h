// Problem: a case's data, made from its seed. Rows lie `padding` elements apart; cache positions that no sequence has reached hold
// NaN, so that a kernel which looks at them is found out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "case.h"
#include "kernels/kernel.h"

namespace camshaft::opcheck {

inline constexpr int64_t kPadding = 16;  // elements behind each row, which nobody may touch

// f32 rows, or ids and row indices (one i32 a row, no padding).
struct Rows {
  int64_t columns = 0;
  int64_t stride = 0;
  std::vector<uint32_t> bits;

  void* at(int64_t row) { return bits.data() + row * stride; }
};

struct WeightRows {
  tensor::Format format = tensor::Format::kF32;
  int64_t n = 0;
  int64_t k = 0;
  std::vector<std::byte> bytes;  // row-major blocks
};

struct Input {
  enum class Kind : uint8_t { kRows, kWeight, kVector, kKv } kind = Kind::kRows;
  Rows rows;                  // kRows
  bool whole = false;         // kRows: not cut with the batch's rows (the source of gather_rows)
  WeightRows weight;          // kWeight
  std::vector<float> vector;  // kVector: f32 constants
};

struct Problem {
  Case spec;
  std::vector<Input> inputs;
  std::vector<int64_t> output_columns;
  bool writes_cache = false;

  ops::KvLayout kv;
  std::vector<std::byte> cache;              // before the op
  std::vector<std::vector<int32_t>> blocks;  // a table a sequence
  std::vector<int32_t> positions;            // of each row
  std::vector<float> rope_table;
};

Problem make_problem(const Case& spec);

// Memory on a 64-byte border, as plans give it to kernels.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size) : size_(size), data_(static_cast<std::byte*>(::operator new(size, std::align_val_t(64)))) {}
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { ::operator delete(data, std::align_val_t(64)); }
  };
  size_t size_;
  std::unique_ptr<std::byte, Free> data_;
};

// The weight in a kernel's layout.
AlignedBytes pack_weight(const WeightRows& weight, const kernels::WeightLayout& layout);

}  // namespace camshaft::opcheck
