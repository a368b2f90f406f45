// Tokenizer: text to ids and back. Immutable after make(); encode and decode may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tokenizer_spec.h"
#include "base/status.h"

namespace camshaft::text {

enum class SpecialParsing : uint8_t {
  kOff,  // control tokens in the text are ordinary characters: message content
  kOn,   // they become their ids: the template's own text, raw prompts
};
enum class SpecialAdding : uint8_t { kOff, kOn };  // BOS and EOS as the model wants them

// A piece of rendered prompt and where it came from.
struct Span {
  enum class Origin : uint8_t { kTemplate, kContent };
  Origin origin;
  std::string text;
  bool operator==(const Span&) const = default;
};

class Tokenizer {
 public:
  // Checks the spec (ids in range, merges made of tokens, patterns compile); errors name the entry.
  static Result<Tokenizer> make(api::TokenizerSpec spec);

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  // `text` must be valid UTF-8 (invalid_argument names the byte). Fails also when it cannot be expressed (no unk, no bytes).
  Result<std::vector<int32_t>> encode(std::string_view text, SpecialAdding adding, SpecialParsing parsing) const;
  // Spans as if joined to one text, except that control tokens are recognised only inside kTemplate spans and matches never
  // reach across a border into content. A prompt without control tokens in its content gets the ids of the joined text.
  Result<std::vector<int32_t>> encode_spans(std::span<const Span> spans, SpecialAdding adding) const;

  // All ids at once; invalid byte sequences become U+FFFD. Control tokens are shown only if asked.
  enum class ShowSpecial : uint8_t { kNo, kYes };
  std::string decode(std::span<const int32_t> ids, ShowSpecial show) const;
  // The raw bytes one token stands for (a part of a character, perhaps); control tokens give their text. Id must be in range.
  std::string_view token_bytes(int32_t id) const;
  bool is_control(int32_t id) const;
  bool is_end(int32_t id) const;

  int32_t vocab_size() const;
  const api::TokenizerSpec& spec() const;

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::text
