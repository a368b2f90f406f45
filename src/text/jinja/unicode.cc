// What Python adds to the Unicode tables: its own white space and line ends, and the few case forms of more than one code point.
#include "text/jinja/unicode.h"

#include "base/utf8.h"
#include "text/unicode.h"

namespace camshaft::text::jinja {
namespace {

bool is_continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

}  // namespace

char32_t decode(std::string_view text, uint64_t at, uint32_t* length) {
  const auto byte = [&](uint64_t i) { return static_cast<uint8_t>(at + i < text.size() ? text[at + i] : 0); };
  const uint8_t first = byte(0);
  if (first < 0x80) return *length = 1, first;
  if (first < 0xE0) return *length = 2, (first & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
  if (first < 0xF0) return *length = 3, (first & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  return *length = 4, (first & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
}

uint64_t byte_of_char(std::string_view text, uint64_t index) {
  for (uint64_t at = 0; at < text.size(); ++at) {
    if (is_continuation(text[at])) continue;
    if (index-- == 0) return at;
  }
  return text.size();
}

bool is_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x1F);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_printable(char32_t code) { return code == ' ' || (char_class(code) & kGraphic) != 0; }
bool is_alpha(char32_t code) { return (char_class(code) & kLetter) != 0; }
bool is_digit(char32_t code) { return (char_class(code) & kDecimal) != 0; }
bool is_upper(char32_t code) { return (char_class(code) & kUpper) != 0; }
bool is_lower(char32_t code) { return (char_class(code) & kLower) != 0; }

bool is_line_end(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

void append_lower(std::string& out, char32_t code) {
  if (code == 0x130) return base::append_utf8(out, 'i'), base::append_utf8(out, 0x307);
  base::append_utf8(out, to_lower(code));
}

void append_upper(std::string& out, char32_t code) {
  switch (code) {
    case 0xDF: out += "SS"; return;
    case 0xFB00: out += "FF"; return;
    case 0xFB01: out += "FI"; return;
    case 0xFB02: out += "FL"; return;
    default: base::append_utf8(out, to_upper(code));
  }
}

void append_title(std::string& out, char32_t code) {
  if (code == 0xDF) {
    out += "Ss";
    return;
  }
  base::append_utf8(out, to_title(code));
}

}  // namespace camshaft::text::jinja
