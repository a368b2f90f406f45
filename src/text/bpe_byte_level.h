// ByteLevelModel: GPT-2 style BPE. Text is cut by the pre-tokenizer; each word starts as bytes and merges by rank.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/tokenizer_spec.h"
#include "base/status.h"
#include "text/bpe_merges.h"
#include "text/bpe_word_index.h"
#include "text/pre_tokenizer.h"

namespace camshaft::text {

class ByteLevelModel {
 public:
  // `token_bytes` by id, as decoding uses them.
  static Result<ByteLevelModel> make(const api::TokenizerSpec& spec, const std::vector<std::string>& token_bytes);

  struct Scratch {
    explicit Scratch(const ByteLevelModel& model) : pre(model.pre_) {}
    PreTokenizer::Scratch pre;
    MergeTable::Scratch merges;
    std::vector<int32_t> symbols;
    std::string prefixed;
  };
  enum class Prefix : uint8_t { kNo, kYes };
  // Appends the ids of a stretch of text between added tokens.
  Status encode(std::string_view text, Prefix prefix, Scratch& scratch, std::vector<int32_t>& out) const;

 private:
  ByteLevelModel(PreTokenizer pre, MergeTable merges, size_t vocab_size)
      : pre_(std::move(pre)), merges_(std::move(merges)), words_(vocab_size) {}
  void index_words(const api::TokenizerSpec& spec, const std::vector<std::string>& token_bytes);
  bool merges_to(std::string_view word, int32_t id, MergeTable::Scratch& scratch, std::vector<int32_t>& symbols) const;
  Status encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const;

  PreTokenizer pre_;
  MergeTable merges_;
  // Words that become exactly one token: those that merging leads to (or all, with ignore_merges). Most words of a text are here,
  // and one look-up answers what merging would.
  WordIndex words_;
  std::array<int32_t, 256> byte_ids_;  // -1: the vocabulary lacks the byte
  int32_t unk_ = -1;
};

}  // namespace camshaft::text
