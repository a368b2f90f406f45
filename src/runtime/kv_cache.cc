#include "runtime/kv_cache.h"

#include <unistd.h>

#include <algorithm>

#include "base/format.h"

namespace camshaft::runtime {

Result<KvCache> KvCache::make(const ops::KvLayout& layout, int32_t num_blocks) {
  Result<device::Buffer> storage =
      device::allocate_host(static_cast<size_t>(layout.block_bytes()) * static_cast<size_t>(num_blocks));
  if (!storage.ok())
    return std::move(storage).status().with_context(format("cache of {} blocks (--kv-memory, --max-seqs)", num_blocks));
  return KvCache(std::move(*storage), num_blocks);
}

Result<int32_t> plan_kv_blocks(const ops::KvLayout& layout, int32_t max_seqs, int32_t max_seq_len, uint64_t memory_bytes) {
  const auto machine = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t budget = memory_bytes > 0 ? memory_bytes : machine / 4;
  const int64_t per_sequence = (max_seq_len + ops::KvLayout::kBlockTokens - 1) / ops::KvLayout::kBlockTokens;
  const auto fitting = static_cast<int64_t>(budget / static_cast<uint64_t>(layout.block_bytes()));
  if (fitting < per_sequence) {
    return base::resource_exhausted(
        format("the cache budget of {} bytes holds {} blocks of 16 tokens; one sequence of {} tokens needs {}: raise --kv-memory "
               "or lower --max-seq-len",
               budget, fitting, max_seq_len, per_sequence));
  }
  return static_cast<int32_t>(std::min({fitting, per_sequence * max_seqs, int64_t{1} << 30}));
}

}  // namespace camshaft::runtime
