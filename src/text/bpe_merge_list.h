// The vocabulary file's merges (pairs of strings) as merges of ids.
#pragma once

#include <vector>

#include "api/tokenizer_spec.h"
#include "base/status.h"
#include "text/bpe_merges.h"

namespace camshaft::text {

// Errors name the merge whose parts or product are no tokens. Merges that make a control or unknown token are left out: control
// tokens come only from where special parsing is on.
Result<std::vector<MergeTable::Merge>> resolve_merges(const api::TokenizerSpec& spec);

inline bool can_be_merged_to(api::TokenKind kind) {
  return kind == api::TokenKind::kNormal || kind == api::TokenKind::kUserDefined || kind == api::TokenKind::kUnused;
}

}  // namespace camshaft::text
