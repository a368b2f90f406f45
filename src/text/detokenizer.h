// Detokenizer: ids of one sequence to text as they come, in O(new bytes). Never emits half a code point. Owned by one generation.
#pragma once

#include <cstdint>
#include <string>

#include "text/tokenizer.h"

namespace camshaft::text {

class Detokenizer {
 public:
  // The tokenizer outlives this. A SentencePiece leading blank of the very first piece is dropped as decode() drops it,
  // unless the text continues a prompt (`mid_text`).
  enum class Start : uint8_t { kTextStart, kMidText };
  Detokenizer(const Tokenizer& tokenizer, Tokenizer::ShowSpecial show, Start start);

  // Whole code points that became certain with this token; perhaps nothing. Bytes that can never become valid UTF-8 come out as
  // U+FFFD.
  std::string push(int32_t id);
  // The rest: a stump of a code point becomes one U+FFFD.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  Tokenizer::ShowSpecial show_;
  Start start_;
  std::string pending_;  // at most 3 bytes: a valid prefix of a code point
};

}  // namespace camshaft::text
