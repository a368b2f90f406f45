// SentencePieceModel: BPE over characters, blanks written as U+2581, bytes for what the vocabulary lacks. Merges go by the scores
// of the pieces (SentencePiece, GGUF) or by a list of merges (tokenizer.json).
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

namespace camshaft::text {

// Characters to symbols, by pages of 256 code points.
class CharMap {
 public:
  CharMap() : pages_(0x1100, -1) {}
  int32_t find(char32_t c) const {
    const int32_t page = pages_[c >> 8];
    return page < 0 ? -1 : symbols_[static_cast<size_t>(page) * 256 + (c & 0xFF)];
  }
  void set(char32_t c, int32_t symbol);

 private:
  std::vector<int32_t> pages_;  // -1: no character of the page is known
  std::vector<int32_t> symbols_;
};

class SentencePieceModel {
 public:
  static Result<SentencePieceModel> make(const api::TokenizerSpec& spec);

  struct Scratch {
    explicit Scratch(const SentencePieceModel&) {}
    MergeTable::Scratch merges;
    std::vector<int32_t> symbols;
    std::string escaped;
  };
  enum class Prefix : uint8_t { kNo, kYes };
  Status encode(std::string_view text, Prefix prefix, Scratch& scratch, std::vector<int32_t>& out) const;

 private:
  struct Builder;
  SentencePieceModel(const api::TokenizerSpec& spec, Builder&& builder);
  void escape(std::string_view text, Prefix prefix, std::string& out) const;
  void index_words(const api::TokenizerSpec& spec);
  size_t word_end(std::string_view text, size_t at) const;
  size_t merge_word(std::string_view word, MergeTable::Scratch& scratch, std::vector<int32_t>& symbols) const;
  Status encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const;
  Status encode_unknown(std::string_view character, std::vector<int32_t>& out) const;

  MergeTable merges_;
  CharMap chars_;  // also characters that are only parts of pieces: symbols from the vocabulary's size up
  WordIndex words_;
  std::vector<uint32_t> piece_bytes_;  // by id: bytes of the piece's text
  std::array<int32_t, 256> byte_ids_;
  int32_t unk_ = -1;
  bool collapse_spaces_ = false;
  bool prefix_if_missing_ = false;
  // No piece has a blank behind another character, so no merge crosses the border in front of a blank, and text may be cut there.
  bool cut_at_blanks_ = false;
};

}  // namespace camshaft::text
