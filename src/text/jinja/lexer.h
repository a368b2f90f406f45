// Lexer: template source to tokens, with trim_blocks, lstrip_blocks and the explicit whitespace signs already applied.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/failure.h"

namespace camshaft::text::jinja {

enum class TokenKind : uint8_t {
  kText,
  kBlockBegin,
  kBlockEnd,
  kPrintBegin,
  kPrintEnd,
  kName,
  kString,  // text still quoted and escaped
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind;
  std::string_view text;
  Position position;
};

// One kind of line end, and no final one: what the rest works on. `source` must be valid UTF-8.
std::string normalize_lines(std::string_view source);
// Views into `source`, which is normalised.
std::vector<Token> tokenize(std::string_view source);
// The text a quoted token stands for.
std::string unescape(const Token& token);

}  // namespace camshaft::text::jinja
