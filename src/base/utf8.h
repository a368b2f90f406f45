// UTF-8 in small pieces: validating, decoding, appending, and finding where a cut-off stream ends. Strict as RFC 3629 is:
// overlong forms, surrogates and values past U+10FFFF are not UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace camshaft::base {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

struct CodePoint {
  char32_t value = kReplacementCharacter;
  uint32_t length = 0;  // bytes, 1..4; 0 where the bytes are not UTF-8 (or there are none)
};

// The code point at `position`.
CodePoint decode_utf8(std::string_view text, size_t position);
// Length of the longest prefix that is whole, valid code points: the index of the first bad byte, text.size() where all is well.
size_t utf8_valid_prefix(std::string_view text);
inline bool is_utf8(std::string_view text) { return utf8_valid_prefix(text) == text.size(); }
// Number of bytes at `position` that belong together when decoding fails there (the "maximal subpart", 1..3): what one
// replacement character stands for.
size_t utf8_bad_length(std::string_view text, size_t position);
// Whether `tail` is the non-empty beginning of a code point that further bytes could complete.
bool is_incomplete_utf8(std::string_view tail);

// `value` must be a Unicode scalar value; anything else is appended as U+FFFD.
void append_utf8(std::string& out, char32_t value);
// The text with every bad subpart replaced by U+FFFD.
std::string replace_invalid_utf8(std::string_view text);
// Number of code points of valid text.
size_t count_code_points(std::string_view text);

}  // namespace camshaft::base
