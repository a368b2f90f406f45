// Looking the merges' strings up in the vocabulary.
#include "text/bpe_merge_list.h"

#include <string>

#include "base/format.h"
#include "text/bpe_word_index.h"

namespace camshaft::text {

namespace {

struct Resolver {
  const api::TokenizerSpec& spec;
  WordIndex index;

  explicit Resolver(const api::TokenizerSpec& s) : spec(s), index(s.tokens.size()) {
    for (size_t id = 0; id < spec.tokens.size(); ++id) index.insert(spec.tokens[id], static_cast<int32_t>(id));
  }
  Result<int32_t> token(size_t rank, std::string_view text) const {
    const int32_t id = index.find(text);
    if (id >= 0) return id;
    const auto& [left, right] = spec.merges[rank];
    return base::data_loss(format("merge {} ('{}' + '{}'): '{}' is not in the vocabulary", rank, left, right, text));
  }
};

}  // namespace

Result<std::vector<MergeTable::Merge>> resolve_merges(const api::TokenizerSpec& spec) {
  const Resolver resolver(spec);
  std::vector<MergeTable::Merge> merges;
  merges.reserve(spec.merges.size());
  std::string joined;
  for (size_t rank = 0; rank < spec.merges.size(); ++rank) {
    const auto& [left, right] = spec.merges[rank];
    joined = left;
    joined += right;
    CS_ASSIGN_OR_RETURN(const int32_t left_id, resolver.token(rank, left));
    CS_ASSIGN_OR_RETURN(const int32_t right_id, resolver.token(rank, right));
    CS_ASSIGN_OR_RETURN(const int32_t product, resolver.token(rank, joined));
    if (!can_be_merged_to(spec.kinds[static_cast<size_t>(product)])) continue;
    merges.push_back({left_id, right_id, product, static_cast<uint32_t>(rank)});
  }
  return merges;
}

}  // namespace camshaft::text
