// What a kernel is called with. Plain structs only: ISA-specific files include this.
#pragma once

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

// Rows of f32 (or i32 ids): `stride` elements from one row to the next. A weight: packed bytes, stride unused.
struct TensorArg {
  void* data = nullptr;
  int64_t stride = 0;
};

// One sequence's part of a batch: its new tokens are rows [first_row, first_row + num_rows), at positions
// [start_position, start_position + num_rows). blocks[p / 16] is the cache block of position p, for all positions up to the last
// new one.
struct SequenceSlice {
  int32_t first_row = 0;
  int32_t num_rows = 0;
  int32_t start_position = 0;
  const int32_t* blocks = nullptr;
};

// The batch as kernels see it; lives for one step.
struct BatchView {
  int64_t num_tokens = 0;                    // T
  const int32_t* positions = nullptr;        // [T]
  const SequenceSlice* sequences = nullptr;  // [num_sequences], in row order, covering all rows
  int64_t num_sequences = 0;
  std::byte* kv_base = nullptr;  // block b starts at kv_base + b * KvLayout::block_bytes()
};

// in, out: as the op's description lists them. Kernels never allocate; `workspace` is what workspace_bytes() asked for, shared by
// all workers.
struct KernelCall {
  int64_t rows = 0;  // T or R
  const TensorArg* in = nullptr;
  const TensorArg* out = nullptr;
  std::byte* workspace = nullptr;
  const BatchView* batch = nullptr;
};

}  // namespace camshaft::kernels
