// TokenizerSpec and PromptSpec: everything text needs to know about a vocabulary and a prompt format, as plain values.
// checkpoint makes them from tokenizer.json or GGUF metadata; the engine file carries them; text builds from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace camshaft::api {

enum class TokenizerModel : uint8_t {
  kByteLevelBpe,      // GPT-2 style: bytes as printable characters, pre-tokenizer split, ranked merges
  kSentencePieceBpe,  // pieces with scores or merges, U+2581 for spaces, <0xNN> byte fallback, no pre-split
};

enum class TokenKind : uint8_t { kNormal, kUnknown, kControl, kUserDefined, kUnused, kByte };

// A token that is matched in the text before the model sees it.
struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;      // a control token: matched only where special parsing is on
  bool lstrip = false;       // swallows white space on its left
  bool rstrip = false;       // and on its right
  bool single_word = false;  // only at word borders
  bool normalized = false;   // matched after normalisation
};

// How byte-level text is cut before merging. The order is the order of application.
struct PreTokenizerStep {
  enum class Kind : uint8_t {
    kSplitIsolated,  // `pattern` (PCRE syntax): each match and each gap becomes a piece
    kDigits,         // each digit (Unicode N) alone when individual, else runs
    kByteLevelGpt2,  // the GPT-2 pattern
    kPunctuation,    // each run of punctuation isolated
  };
  Kind kind = Kind::kByteLevelGpt2;
  std::string pattern;
  bool individual = true;
};

enum class NormalizerKind : uint8_t { kNone, kNfc, kNfd, kNfkc, kNfkd };

struct TokenizerSpec {
  TokenizerModel model = TokenizerModel::kByteLevelBpe;
  // Index is the id. Byte-level tokens stand here in their printable form, SentencePiece pieces with U+2581. An id that the files
  // leave out is an empty text of kind kUnused.
  std::vector<std::string> tokens;
  std::vector<TokenKind> kinds;
  std::vector<float> scores;                                // SentencePiece without merges; else empty
  std::vector<std::pair<std::string, std::string>> merges;  // in rank order
  std::vector<AddedToken> added;
  NormalizerKind normalizer = NormalizerKind::kNone;
  std::vector<PreTokenizerStep> pre_tokenizer;
  bool add_prefix_space = false;            // before the text (byte-level: a blank; SentencePiece: U+2581)
  bool prefix_space_every_segment = false;  // SentencePiece "legacy": also after each added token
  // SentencePiece: no prefix where the segment begins with a blank already (Metaspace); byte-level prefixes always work like that.
  bool prefix_space_if_missing = false;
  bool byte_fallback = false;
  bool ignore_merges = false;    // a whole piece that is a token is taken as it is
  bool collapse_spaces = false;  // SentencePiece remove_extra_whitespaces
  // Ids; absent where the model has none.
  std::optional<int32_t> bos, eos, unk, pad;
  bool add_bos = false;  // what "add special tokens" does
  bool add_eos = false;
  // Every id that ends a generation: eos, end of turn, end of text.
  std::vector<int32_t> end_ids;
};

// The prompt format and the model's own defaults.
struct PromptSpec {
  std::string chat_template;                                         // Jinja source; empty: the model has none
  std::vector<std::pair<std::string, std::string>> named_templates;  // further ones, e.g. "tool_use"
  std::string bos_token, eos_token;                                  // text of the tokens, as templates see them
  std::vector<std::pair<std::string, std::string>> special_tokens;   // "unk_token" -> "<unk>", ...
  // generation_config.json; absent: the server's default
  std::optional<double> temperature, top_p, min_p, repetition_penalty;
  std::optional<int32_t> top_k;
};

}  // namespace camshaft::api
