// Walking valid UTF-8, Unicode character classes, case and normal forms. Tables come from utf8proc, seen only in unicode.cc.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/tokenizer_spec.h"

namespace camshaft::text {

// Appends the whole code points of pending + bytes to `out`, U+FFFD for each invalid sequence; keeps a cut tail in `pending`.
void append_utf8_lossy(std::string& pending, std::string_view bytes, std::string& out);

struct ValidCodePoint {
  char32_t value;
  uint32_t size;  // bytes
};
// The text is valid UTF-8 and at < text.size().
inline ValidCodePoint decode_valid(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + i])); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F), 4};
}
// Bytes of the code point that starts with this lead byte of valid UTF-8.
inline uint32_t utf8_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}
// The start of the code point that ends before `at` (> 0) in valid UTF-8.
inline size_t previous_start(std::string_view text, size_t at) {
  do --at;
  while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// Bits of a character's class.
enum CharClass : uint16_t {
  kLetter = 1,       // L*
  kNumber = 2,       // N*
  kSpace = 4,        // White_Space
  kPunctuation = 8,  // P*, or ASCII punctuation (which counts $ + < = > ^ ` | ~)
  kMark = 16,        // M*
  kConnector = 32,   // Pc
  kUpper = 64,       // Lu
  kLower = 128,      // Ll
  kDecimal = 256,    // Nd
  kGraphic = 512,    // neither C* nor Z*
};
uint16_t char_class_slow(char32_t c);

namespace unicode_internal {
constexpr uint16_t ascii_class(unsigned c) {
  if (c >= 'a' && c <= 'z') return kGraphic | kLetter | kLower;
  if (c >= 'A' && c <= 'Z') return kGraphic | kLetter | kUpper;
  if (c >= '0' && c <= '9') return kGraphic | kNumber | kDecimal;
  if (c == ' ' || (c >= 9 && c <= 13)) return kSpace;
  if (c == '_') return kGraphic | kPunctuation | kConnector;
  return c > 32 && c < 127 ? kGraphic | kPunctuation : 0;
}
constexpr std::array<uint16_t, 128> make_ascii_classes() {
  std::array<uint16_t, 128> classes{};
  for (unsigned c = 0; c < 128; ++c) classes[c] = ascii_class(c);
  return classes;
}
inline constexpr std::array<uint16_t, 128> kAsciiClasses = make_ascii_classes();
}  // namespace unicode_internal

inline uint16_t char_class(char32_t c) { return c < 128 ? unicode_internal::kAsciiClasses[c] : char_class_slow(c); }

// Letters, marks, numbers and connectors: what a "single word" token must not touch.
inline bool is_word_char(char32_t c) { return (char_class(c) & (kLetter | kNumber | kMark | kConnector)) != 0; }

// The simple forms: one code point for one.
char32_t to_lower(char32_t c);
char32_t to_upper(char32_t c);
char32_t to_title(char32_t c);

// The text (valid UTF-8) in the wanted normal form. O(n log n) at worst, also for endless runs of combining marks.
std::string normalize(std::string_view text, api::NormalizerKind kind);

}  // namespace camshaft::text
