// The free list of cache blocks.
#include "executor/block_pool.h"

#include <numeric>

namespace camshaft::executor {

BlockPool::BlockPool(int32_t num_blocks) : total_(num_blocks), free_(static_cast<size_t>(num_blocks)) {
  std::iota(free_.rbegin(), free_.rend(), 0);
}

bool BlockPool::allocate(int32_t count, std::vector<int32_t>& table) {
  if (count > free()) return false;
  for (int32_t i = 0; i < count; ++i) {
    table.push_back(free_.back());
    free_.pop_back();
  }
  return true;
}

void BlockPool::release(std::vector<int32_t>& table) {
  free_.insert(free_.end(), table.rbegin(), table.rend());
  table.clear();
}

}  // namespace camshaft::executor
