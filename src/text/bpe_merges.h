// MergeTable: which neighbouring symbols become which symbol, and in what order. The heart of both kinds of BPE.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace camshaft::text {

class MergeTable {
 public:
  struct Merge {
    int32_t left, right;
    int32_t product;
    uint32_t rank;  // low ranks go first, among equal ranks the leftmost; below kNoRank
  };
  static constexpr uint32_t kNoRank = UINT32_MAX;

  // Of merges with the same pair the first one counts.
  explicit MergeTable(std::span<const Merge> merges);

  struct Found {
    uint32_t rank = kNoRank;
    int32_t product = -1;
  };
  Found find(int32_t left, int32_t right) const {
    const uint64_t key = key_of(left, right);
    for (size_t i = hash(key) & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.key == key || slot.found.rank == kNoRank) return slot.found;
    }
  }

  // A caller's working memory for long words; one a thread.
  struct Scratch {
    std::vector<uint32_t> rank, next, previous;
    std::vector<int32_t> product;
    std::vector<uint64_t> heap;
  };
  // Merges until nothing merges any more; gives the number of symbols left, which stand in front. Negative symbols never merge.
  // O(n log n).
  size_t apply(std::span<int32_t> symbols, Scratch& scratch) const;

 private:
  struct Slot {
    uint64_t key = 0;
    Found found;  // kNoRank: empty
  };
  static uint64_t key_of(int32_t left, int32_t right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }
  static size_t hash(uint64_t key) {
    key *= 0x9E3779B97F4A7C15u;
    return static_cast<size_t>(key ^ (key >> 32));
  }
  size_t apply_short(std::span<int32_t> symbols) const;
  size_t apply_long(std::span<int32_t> symbols, Scratch& scratch) const;

  std::vector<Slot> slots_;
  size_t mask_ = 0;
};

}  // namespace camshaft::text
