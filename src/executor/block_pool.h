// BlockPool: which cache blocks are free. Numbers only; the storage is the runner's. Owned by the executor's thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace camshaft::executor {

class BlockPool {
 public:
  explicit BlockPool(int32_t num_blocks);

  int32_t total() const { return total_; }
  int32_t free() const { return static_cast<int32_t>(free_.size()); }
  int32_t used() const { return total_ - free(); }

  // Appends `count` blocks to the table; false, with nothing changed, when fewer are free.
  bool allocate(int32_t count, std::vector<int32_t>& table);
  // Takes all of the table's blocks back; the table is empty afterwards.
  void release(std::vector<int32_t>& table);

  std::span<const int32_t> free_blocks() const { return free_; }

 private:
  int32_t total_;
  std::vector<int32_t> free_;  // a stack: blocks given back last are used first, so that untouched memory stays untouched
};

}  // namespace camshaft::executor
