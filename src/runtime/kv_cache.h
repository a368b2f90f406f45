// KvCache: storage of the paged cache. Blocks are numbers; who owns which is the executor's business.
#pragma once

#include <cstdint>

#include "device/device.h"
#include "ops/op.h"

namespace camshaft::runtime {

class KvCache {
 public:
  // Reserves address space for `num_blocks`; pages appear as blocks are first written.
  static Result<KvCache> make(const ops::KvLayout& layout, int32_t num_blocks);
  std::byte* base() const { return storage_.data(); }
  int32_t num_blocks() const { return num_blocks_; }

 private:
  KvCache(device::Buffer storage, int32_t num_blocks) : storage_(std::move(storage)), num_blocks_(num_blocks) {}
  device::Buffer storage_;
  int32_t num_blocks_;
};

// Blocks for `max_seqs` sequences of `max_seq_len` positions within `memory_bytes` (0: a quarter of the machine's memory).
// resource_exhausted, with the sizes, when not even one sequence of max_seq_len fits.
Result<int32_t> plan_kv_blocks(const ops::KvLayout& layout, int32_t max_seqs, int32_t max_seq_len, uint64_t memory_bytes);

}  // namespace camshaft::runtime
