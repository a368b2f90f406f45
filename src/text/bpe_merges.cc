// Short words: an array of ranks, scanned for its least after each merge. Long words: a linked list of symbols and a heap of
// candidates, where outdated candidates are recognised when they come up.
#include "text/bpe_merges.h"

#include <algorithm>
#include <functional>

namespace camshaft::text {

namespace {

constexpr size_t kShort = 40;  // above it the heap wins

size_t table_size(size_t entries) {
  size_t size = 16;
  while (size < entries * 2) size *= 2;
  return size;
}

}  // namespace

MergeTable::MergeTable(std::span<const Merge> merges) : slots_(table_size(merges.size())), mask_(slots_.size() - 1) {
  for (const Merge& merge : merges) {
    const uint64_t key = key_of(merge.left, merge.right);
    size_t i = hash(key) & mask_;
    while (slots_[i].found.rank != kNoRank && slots_[i].key != key) i = (i + 1) & mask_;
    if (slots_[i].found.rank == kNoRank) slots_[i] = {key, {merge.rank, merge.product}};
  }
}

size_t MergeTable::apply(std::span<int32_t> symbols, Scratch& scratch) const {
  if (symbols.size() < 2) return symbols.size();
  return symbols.size() <= kShort ? apply_short(symbols) : apply_long(symbols, scratch);
}

size_t MergeTable::apply_short(std::span<int32_t> symbols) const {
  uint32_t rank[kShort];
  int32_t product[kShort];
  const auto look = [&](size_t i) {
    const Found found = find(symbols[i], symbols[i + 1]);
    rank[i] = found.rank;
    product[i] = found.product;
  };
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) look(i);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i) best = rank[i] < rank[best] ? i : best;
    if (rank[best] == kNoRank) break;
    symbols[best] = product[best];
    --count;
    for (size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1];
    for (size_t i = best + 1; i + 1 < count; ++i) {
      rank[i] = rank[i + 1];
      product[i] = product[i + 1];
    }
    if (best + 1 < count) look(best);
    if (best > 0) look(best - 1);
  }
  return count;
}

namespace {

constexpr uint32_t kEnd = UINT32_MAX;

// Heap entries order by rank, then by position.
uint64_t candidate(uint32_t rank, size_t position) { return static_cast<uint64_t>(rank) << 32 | position; }

// The list as arrays: next and previous hold positions; a symbol that was merged away has rank kNoRank.
struct LongWord {
  const MergeTable& table;
  std::span<int32_t> symbols;
  MergeTable::Scratch& s;

  void look(size_t at) {
    const auto found = s.next[at] == kEnd ? MergeTable::Found{} : table.find(symbols[at], symbols[s.next[at]]);
    s.rank[at] = found.rank;
    s.product[at] = found.product;
  }
  void push(size_t at) {
    look(at);
    if (s.rank[at] == MergeTable::kNoRank) return;
    s.heap.push_back(candidate(s.rank[at], at));
    std::push_heap(s.heap.begin(), s.heap.end(), std::greater<>());
  }
  void prepare() {
    const size_t n = symbols.size();
    s.rank.resize(n);
    s.product.resize(n);
    s.next.resize(n);
    s.previous.resize(n);
    s.heap.clear();
    for (size_t i = 0; i < n; ++i) {
      s.next[i] = i + 1 < n ? static_cast<uint32_t>(i + 1) : kEnd;
      s.previous[i] = i > 0 ? static_cast<uint32_t>(i - 1) : kEnd;
    }
    for (size_t i = 0; i < n; ++i) {
      look(i);
      if (s.rank[i] != MergeTable::kNoRank) s.heap.push_back(candidate(s.rank[i], i));
    }
    std::make_heap(s.heap.begin(), s.heap.end(), std::greater<>());
  }
  void merge(size_t at) {
    const uint32_t gone = s.next[at];
    symbols[at] = s.product[at];
    s.next[at] = s.next[gone];
    s.rank[gone] = MergeTable::kNoRank;
    if (s.next[at] != kEnd) s.previous[s.next[at]] = static_cast<uint32_t>(at);
    push(at);
    if (s.previous[at] != kEnd) push(s.previous[at]);
  }
  size_t compact() {
    size_t count = 0;
    for (uint32_t at = 0; at != kEnd; at = s.next[at]) symbols[count++] = symbols[at];
    return count;
  }
};

}  // namespace

size_t MergeTable::apply_long(std::span<int32_t> symbols, Scratch& scratch) const {
  LongWord word{*this, symbols, scratch};
  word.prepare();
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    const uint64_t top = scratch.heap.back();
    scratch.heap.pop_back();
    const auto at = static_cast<uint32_t>(top);
    // A position whose pair changed holds another rank; the same rank means a pair that may merge now all the same.
    if (scratch.rank[at] == static_cast<uint32_t>(top >> 32)) word.merge(at);
  }
  return word.compact();
}

}  // namespace camshaft::text
