// Scanners for the patterns most models use; pre_tokenizer_test.cc compares them with PCRE2 running the patterns.
#include "text/pre_tokenizer_scanners.h"

#include "text/unicode.h"

namespace camshaft::text {

namespace {

using unicode_internal::kAsciiClasses;

struct Char {
  uint16_t classes;
  uint32_t size;
};

inline Char char_at(std::string_view text, size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) [[likely]]
    return {kAsciiClasses[byte], 1};
  const ValidCodePoint c = decode_valid(text, at);
  return {char_class_slow(c.value), c.size};
}

// Both take everything from `at` whose class is, or is not, among `mask`.
inline size_t skip_in(std::string_view text, size_t at, uint16_t mask) {
  while (at < text.size()) {
    const Char c = char_at(text, at);
    if ((c.classes & mask) == 0) break;
    at += c.size;
  }
  return at;
}
inline size_t skip_not_in(std::string_view text, size_t at, uint16_t mask) {
  while (at < text.size()) {
    const Char c = char_at(text, at);
    if ((c.classes & mask) != 0) break;
    at += c.size;
  }
  return at;
}

constexpr uint16_t kNotSymbol = kLetter | kNumber | kSpace;

bool is_line_break(char c) { return c == '\r' || c == '\n'; }
char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
char same(char c) { return c; }

// Bytes of 's 't 're 've 'm 'll 'd at `at` (which is an apostrophe); 0 when it is none of them.
template <char (*kFold)(char)>
size_t contraction(std::string_view text, size_t at) {
  if (at + 1 >= text.size()) return 0;
  const char first = kFold(text[at + 1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (at + 2 >= text.size()) return 0;
  const char second = kFold(text[at + 2]);
  const bool two = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return two ? 3 : 0;
}

// The end of \s+(?!\S)|\s+ at `at`, which is white space; `run_end` is where the white space ends.
size_t space_piece_end(std::string_view text, size_t at, size_t run_end) {
  if (run_end == text.size()) return run_end;
  const size_t last = previous_start(text, run_end);
  return last > at ? last : run_end;
}

size_t gpt2_end(std::string_view text, size_t at) {
  if (text[at] == '\'') {
    const size_t size = contraction<same>(text, at);
    if (size > 0) return at + size;
  }
  const size_t body = text[at] == ' ' && at + 1 < text.size() ? at + 1 : at;
  const Char first = char_at(text, body);
  if (first.classes & kLetter) return skip_in(text, body + first.size, kLetter);
  if (first.classes & kNumber) return skip_in(text, body + first.size, kNumber);
  if ((first.classes & kSpace) == 0) return skip_not_in(text, body + first.size, kNotSymbol);
  return space_piece_end(text, at, skip_in(text, at, kSpace));
}

size_t digits_end(std::string_view text, size_t at, int max_digits) {
  if (max_digits == 0) return skip_in(text, at, kNumber);
  for (int i = 0; i < max_digits && at < text.size(); ++i) {
    const Char c = char_at(text, at);
    if ((c.classes & kNumber) == 0) break;
    at += c.size;
  }
  return at;
}

// \s*[\r\n]+ takes the run up to its last line break; a run without one goes by the GPT-2 rule.
size_t cl100k_space_end(std::string_view text, size_t at) {
  const size_t run_end = skip_in(text, at, kSpace);
  for (size_t i = run_end; i > at; --i) {
    if (is_line_break(text[i - 1])) return i;
  }
  return space_piece_end(text, at, run_end);
}

size_t cl100k_contraction(std::string_view text, size_t at, bool fold_long_s) {
  const size_t size = contraction<ascii_lower>(text, at);
  if (size > 0) return size;
  return fold_long_s && text.substr(at + 1, 2) == "\xC5\xBF" ? 3 : 0;
}

size_t cl100k_end(std::string_view text, size_t at, int max_digits, bool fold_long_s) {
  if (text[at] == '\'') {
    const size_t size = cl100k_contraction(text, at, fold_long_s);
    if (size > 0) return at + size;
  }
  const Char first = char_at(text, at);
  const size_t second = at + first.size;
  if (first.classes & kLetter) return skip_in(text, second, kLetter);
  if (first.classes & kNumber) return digits_end(text, at, max_digits);
  if (second < text.size() && !is_line_break(text[at])) {
    const Char next = char_at(text, second);
    if (next.classes & kLetter) return skip_in(text, second + next.size, kLetter);
  }
  const size_t body = text[at] == ' ' ? second : at;
  size_t end = skip_not_in(text, body, kNotSymbol);
  if (end == body) return cl100k_space_end(text, at);
  while (end < text.size() && is_line_break(text[end])) ++end;
  return end;
}

}  // namespace

void scan_gpt2(std::string_view text, uint32_t base, std::vector<uint32_t>& ends) {
  for (size_t at = 0; at < text.size();) {
    at = gpt2_end(text, at);
    ends.push_back(base + static_cast<uint32_t>(at));
  }
}

void scan_cl100k(std::string_view text, uint32_t base, int max_digits, bool fold_long_s, std::vector<uint32_t>& ends) {
  for (size_t at = 0; at < text.size();) {
    at = cl100k_end(text, at, max_digits, fold_long_s);
    ends.push_back(base + static_cast<uint32_t>(at));
  }
}

void scan_digits(std::string_view text, uint32_t base, bool individual, std::vector<uint32_t>& ends) {
  for (size_t at = 0; at < text.size();) {
    const size_t gap_end = skip_not_in(text, at, kNumber);
    if (gap_end == at) {
      at = digits_end(text, at, individual ? 1 : 0);
    } else {
      at = gap_end;
    }
    ends.push_back(base + static_cast<uint32_t>(at));
  }
}

void scan_punctuation(std::string_view text, uint32_t base, std::vector<uint32_t>& ends) {
  for (size_t at = 0; at < text.size();) {
    const size_t gap_end = skip_not_in(text, at, kPunctuation);
    at = gap_end == at ? skip_in(text, at, kPunctuation) : gap_end;
    ends.push_back(base + static_cast<uint32_t>(at));
  }
}

}  // namespace camshaft::text
