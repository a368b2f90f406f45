// Checks of a TokenizerSpec, and its tokens as bytes.
#include "text/tokenizer_tokens.h"

#include <optional>
#include <string_view>

#include "base/format.h"
#include "base/utf8.h"
#include "text/bpe_alphabet.h"

namespace camshaft::text {

namespace {

constexpr size_t kMaxTokens = size_t{2} << 20;
constexpr size_t kMaxMerges = size_t{4} << 20;
constexpr size_t kMaxTokenBytes = 4096;  // longer ones would make building quadratic in a forged file's size
constexpr size_t kMaxAddedBytes = 1024;

Status check_id(const api::TokenizerSpec& spec, std::string_view what, std::optional<int32_t> id) {
  if (!id || (*id >= 0 && static_cast<size_t>(*id) < spec.tokens.size())) return base::ok_status();
  return base::data_loss(format("{} has id {}, the vocabulary ends at {}", what, *id, spec.tokens.size()));
}

Status check_sizes(const api::TokenizerSpec& spec) {
  if (spec.tokens.empty()) return base::data_loss("the vocabulary is empty");
  if (spec.tokens.size() > kMaxTokens) {
    return base::resource_exhausted(format("the vocabulary has {} entries, the limit is {}", spec.tokens.size(), kMaxTokens));
  }
  if (spec.merges.size() > kMaxMerges) {
    return base::resource_exhausted(format("the vocabulary has {} merges, the limit is {}", spec.merges.size(), kMaxMerges));
  }
  if (spec.kinds.size() != spec.tokens.size()) {
    return base::data_loss(format("the vocabulary has {} tokens but {} token kinds", spec.tokens.size(), spec.kinds.size()));
  }
  return base::ok_status();
}

Status check_tokens(const api::TokenizerSpec& spec) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string& token = spec.tokens[id];
    if (token.size() > kMaxTokenBytes) {
      return base::resource_exhausted(format("token {} has {} bytes, the limit is {}", id, token.size(), kMaxTokenBytes));
    }
    const size_t valid = base::utf8_valid_prefix(token);
    if (valid != token.size()) return base::data_loss(format("token {} is not valid UTF-8 at its byte {}", id, valid));
  }
  return base::ok_status();
}

Status check_added(const api::TokenizerSpec& spec) {
  for (size_t i = 0; i < spec.added.size(); ++i) {
    const api::AddedToken& token = spec.added[i];
    CS_RETURN_IF_ERROR(check_id(spec, format("added token {} ('{}')", i, token.content), token.id));
    if (token.content.size() > kMaxAddedBytes) {
      return base::resource_exhausted(
          format("added token {} has {} bytes, the limit is {}", i, token.content.size(), kMaxAddedBytes));
    }
    if (!base::is_utf8(token.content)) return base::data_loss(format("added token {} is not valid UTF-8", i));
  }
  return base::ok_status();
}

std::string with_blanks(std::string piece) {
  constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581
  for (size_t at = piece.find(kBlank); at != std::string::npos; at = piece.find(kBlank, at + 1))
    piece.replace(at, kBlank.size(), " ");
  return piece;
}

std::string sentencepiece_bytes(const api::TokenizerSpec& spec, size_t id) {
  const bool may_be_byte = spec.byte_fallback || spec.kinds[id] == api::TokenKind::kByte;
  const auto byte = may_be_byte ? byte_of_fallback_token(spec.tokens[id]) : std::nullopt;
  return byte ? std::string(1, static_cast<char>(*byte)) : with_blanks(spec.tokens[id]);
}

std::string token_bytes(const api::TokenizerSpec& spec, size_t id) {
  using Kind = api::TokenKind;
  const Kind kind = spec.kinds[id];
  if (kind == Kind::kControl || kind == Kind::kUserDefined || kind == Kind::kUnknown) return spec.tokens[id];
  if (spec.model == api::TokenizerModel::kSentencePieceBpe) return sentencepiece_bytes(spec, id);
  // A token outside the byte alphabet is text that was added to the vocabulary.
  return bytes_of_printable(spec.tokens[id]).value_or(spec.tokens[id]);
}

}  // namespace

Status check_spec(const api::TokenizerSpec& spec) {
  CS_RETURN_IF_ERROR(check_sizes(spec));
  CS_RETURN_IF_ERROR(check_tokens(spec));
  CS_RETURN_IF_ERROR(check_added(spec));
  CS_RETURN_IF_ERROR(check_id(spec, "the BOS token", spec.bos));
  CS_RETURN_IF_ERROR(check_id(spec, "the EOS token", spec.eos));
  CS_RETURN_IF_ERROR(check_id(spec, "the unknown token", spec.unk));
  CS_RETURN_IF_ERROR(check_id(spec, "the padding token", spec.pad));
  for (const int32_t id : spec.end_ids) CS_RETURN_IF_ERROR(check_id(spec, "an end token", id));
  return base::ok_status();
}

std::vector<std::string> bytes_of_tokens(const api::TokenizerSpec& spec) {
  std::vector<std::string> bytes;
  bytes.reserve(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) bytes.push_back(token_bytes(spec, id));
  return bytes;
}

}  // namespace camshaft::text
