// Tokenize, then detokenize: on a byte-level vocabulary any valid text comes back, and whole decoding equals streaming.
#include <cstdlib>

#include "base/utf8.h"
#include "text/detokenizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_test_specs.h"

namespace {

using namespace camshaft;
using namespace camshaft::text;

void check(bool holds) {
  if (!holds) std::abort();
}

std::string streamed(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  Detokenizer detokenizer(tokenizer, Tokenizer::ShowSpecial::kYes, Detokenizer::Start::kTextStart);
  std::string out;
  for (const int32_t id : ids) {
    const std::string piece = detokenizer.push(id);
    check(base::is_utf8(piece));
    out += piece;
  }
  return out + detokenizer.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Tokenizer byte_level = std::move(*Tokenizer::make(tiny_byte_level()));
  static const Tokenizer sentencepiece = std::move(*Tokenizer::make(tiny_sentencepiece()));
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const SpecialParsing parsing : {SpecialParsing::kOff, SpecialParsing::kOn}) {
    const auto ids = byte_level.encode(text, SpecialAdding::kOff, parsing);
    check(ids.ok() == base::is_utf8(text));
    if (!ids.ok()) return 0;
    check(byte_level.decode(*ids, Tokenizer::ShowSpecial::kYes) == text);
    check(streamed(byte_level, *ids) == text);
    const auto pieces = sentencepiece.encode(text, SpecialAdding::kOff, parsing);
    check(pieces.ok());
    check(streamed(sentencepiece, *pieces) == sentencepiece.decode(*pieces, Tokenizer::ShowSpecial::kYes));
  }
  return 0;
}
