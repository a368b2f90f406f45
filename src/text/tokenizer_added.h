// AddedMatcher: finds added tokens in text, leftmost first and the longest there, as tokenizer.json defines it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "api/tokenizer_spec.h"
#include "text/bpe_word_index.h"

namespace camshaft::text {

// Where control tokens may be recognised: disjoint stretches [begin, end) of the text, ascending.
class ControlRanges {
 public:
  // Neighbouring stretches grow together.
  void add(size_t begin, size_t end);
  // Whether one stretch holds all of [begin, end).
  bool hold(size_t begin, size_t end) const;

 private:
  std::vector<std::pair<size_t, size_t>> ranges_;
};

class AddedMatcher {
 public:
  // The tokens outlive this; ones without content never match.
  explicit AddedMatcher(const std::vector<const api::AddedToken*>& tokens);

  bool empty() const { return tokens_.empty(); }
  struct Match {
    size_t begin, end;  // with the white space that the token swallows
    int32_t id;         // -1: there is no match, and both ends are text.size()
  };
  // The first match at or after `from`; white space on its left is swallowed back to `from` at most.
  Match find(std::string_view text, size_t from, const ControlRanges& control) const;

 private:
  const api::AddedToken* longest_at(std::string_view text, size_t at, const ControlRanges& control) const;
  bool may_start(std::string_view text, size_t at) const;

  std::vector<const api::AddedToken*> tokens_;
  WordIndex index_;                               // content to position in tokens_
  std::array<std::vector<uint32_t>, 256> sizes_;  // by first byte: content sizes, descending
  std::array<bool, 256> first_;
  std::bitset<65536> first_two_;  // by the first two bytes; all with that first byte where a content has one byte
};

}  // namespace camshaft::text
