// Small vocabularies for tests and the fuzz target.
#pragma once

#include <initializer_list>
#include <string>

#include "api/tokenizer_spec.h"
#include "text/bpe_alphabet.h"

namespace camshaft::text {

// Bytes are ids 0 to 255; then the merges' products; then "<|im|>" and "<|im|>x" (control) and "TOOL" (user-defined).
inline api::TokenizerSpec tiny_byte_level() {
  api::TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) spec.tokens.push_back(printable_byte(static_cast<unsigned char>(byte)));
  const std::initializer_list<std::pair<const char*, const char*>> merges = {
      {"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}, {"a", "a"}, {"aa", "aa"}, {"\u0120", "w"}, {"\u00C3", "\u00A9"}};
  for (const auto& [left, right] : merges) {
    spec.merges.emplace_back(left, right);
    spec.tokens.push_back(std::string(left) + right);
  }
  spec.kinds.assign(spec.tokens.size(), api::TokenKind::kNormal);
  const auto add = [&](const char* content, api::TokenKind kind) {
    const auto id = static_cast<int32_t>(spec.tokens.size());
    spec.tokens.emplace_back(content);
    spec.kinds.push_back(kind);
    spec.added.push_back({id, content, kind == api::TokenKind::kControl, false, false, false, false});
  };
  add("<|im|>", api::TokenKind::kControl);
  add("<|im|>x", api::TokenKind::kControl);
  add("TOOL", api::TokenKind::kUserDefined);
  spec.pre_tokenizer.push_back({api::PreTokenizerStep::Kind::kByteLevelGpt2, "", true});
  return spec;
}

// <unk> <s>, the byte tokens (ids 2 to 257), then scored pieces.
inline api::TokenizerSpec tiny_sentencepiece() {
  api::TokenizerSpec spec;
  spec.model = api::TokenizerModel::kSentencePieceBpe;
  const auto add = [&](std::string token, api::TokenKind kind, float score) {
    spec.tokens.push_back(std::move(token));
    spec.kinds.push_back(kind);
    spec.scores.push_back(score);
  };
  add("<unk>", api::TokenKind::kUnknown, 0);
  add("<s>", api::TokenKind::kControl, 0);
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    add(std::string("<0x") + kHex[byte / 16] + kHex[byte % 16] + ">", api::TokenKind::kByte, 0);
  }
  float score = 0;
  for (const char* piece : {"\u2581a", "ab", "\u2581\u2581", "\u2581ab", "a", "b", "\u2581", "c"}) {
    add(piece, api::TokenKind::kNormal, score -= 1);
  }
  spec.added.push_back({1, "<s>", true, false, false, false, false});
  spec.unk = 0;
  spec.bos = 1;
  spec.add_bos = true;
  spec.byte_fallback = true;
  spec.add_prefix_space = true;
  return spec;
}

}  // namespace camshaft::text
