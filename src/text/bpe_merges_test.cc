// Both ways of merging against the definition: again and again the least rank, the leftmost among equals.
#include "text/bpe_merges.h"

#include <gtest/gtest.h>

#include <random>

namespace camshaft::text {
namespace {

std::vector<int32_t> by_definition(const MergeTable& table, std::vector<int32_t> symbols) {
  for (;;) {
    size_t best = symbols.size();
    MergeTable::Found least;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = table.find(symbols[i], symbols[i + 1]);
      if (found.rank >= least.rank) continue;
      least = found;
      best = i;
    }
    if (best == symbols.size()) return symbols;
    symbols[best] = least.product;
    symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
}

TEST(MergeTableTest, ShortAndLongWordsFollowTheDefinition) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<MergeTable::Merge> merges;
    for (int32_t product = 3; product < 30; ++product) {
      const auto part = [&] { return static_cast<int32_t>(random() % static_cast<unsigned>(product)); };
      merges.push_back({part(), part(), product, static_cast<uint32_t>(random() % 12)});  // ranks repeat, as scores do
    }
    const MergeTable table(merges);
    MergeTable::Scratch scratch;
    for (const size_t size : {0u, 1u, 2u, 7u, 40u, 41u, 200u}) {
      std::vector<int32_t> symbols(size);
      for (int32_t& symbol : symbols) symbol = static_cast<int32_t>(random() % 4) - (random() % 20 == 0 ? 4 : 0);
      const std::vector<int32_t> want = by_definition(table, symbols);
      symbols.resize(table.apply(symbols, scratch));
      ASSERT_EQ(symbols, want) << "round " << round << ", " << size << " symbols";
    }
  }
}

}  // namespace
}  // namespace camshaft::text
