// Ids to text as they come. Only the stump of a code point is kept between calls.
#include "text/detokenizer.h"

#include "text/unicode.h"

namespace camshaft::text {

Detokenizer::Detokenizer(const Tokenizer& tokenizer, Tokenizer::ShowSpecial show, Start start)
    : tokenizer_(&tokenizer), show_(show), start_(start) {}

std::string Detokenizer::push(int32_t id) {
  std::string out;
  // An id past the vocabulary (a padded output row) has no text.
  if (id < 0 || id >= tokenizer_->vocab_size()) return out;
  if (show_ == Tokenizer::ShowSpecial::kNo && tokenizer_->is_control(id)) return out;
  std::string_view bytes = tokenizer_->token_bytes(id);
  if (bytes.empty()) return out;
  const api::TokenizerSpec& spec = tokenizer_->spec();
  const bool prefixed = spec.model == api::TokenizerModel::kSentencePieceBpe && spec.add_prefix_space;
  if (start_ == Start::kTextStart && prefixed && bytes.front() == ' ') bytes.remove_prefix(1);
  start_ = Start::kMidText;
  append_utf8_lossy(pending_, bytes, out);
  return out;
}

std::string Detokenizer::finish() {
  if (pending_.empty()) return "";
  pending_.clear();
  return "\xEF\xBF\xBD";
}

}  // namespace camshaft::text
