// One table-free decoder serves all questions: lead byte gives the length and the range of the second byte (Unicode, table 3-7).
#include "base/utf8.h"

#include <algorithm>
#include <cstring>

namespace camshaft::base {
namespace {

struct Lead {
  uint32_t length;  // 0: no lead byte
  unsigned char second_min;
  unsigned char second_max;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

unsigned char byte_at(std::string_view text, size_t index) { return static_cast<unsigned char>(text[index]); }

// How many bytes at `position` fit the pattern of `lead`, at most its length.
size_t matching_bytes(std::string_view text, size_t position, Lead lead) {
  if (lead.length == 0) return 0;
  const size_t limit = std::min<size_t>(lead.length, text.size() - position);
  if (limit >= 2 && (byte_at(text, position + 1) < lead.second_min || byte_at(text, position + 1) > lead.second_max)) return 1;
  for (size_t i = 2; i < limit; ++i) {
    if ((byte_at(text, position + i) & 0xC0) != 0x80) return i;
  }
  return limit;
}

// Skips eight ASCII bytes at a time.
size_t skip_ascii(std::string_view text, size_t position) {
  while (position + 8 <= text.size()) {
    uint64_t word;
    std::memcpy(&word, text.data() + position, 8);
    if ((word & 0x8080808080808080u) != 0) break;
    position += 8;
  }
  return position;
}

}  // namespace

CodePoint decode_utf8(std::string_view text, size_t position) {
  if (position >= text.size()) return {};
  const unsigned char first = byte_at(text, position);
  if (first < 0x80) return {first, 1};
  const Lead lead = lead_of(first);
  if (lead.length == 0 || matching_bytes(text, position, lead) != lead.length) return {};
  char32_t value = first & (0xFFu >> (lead.length + 1));
  for (uint32_t i = 1; i < lead.length; ++i) value = (value << 6) | (byte_at(text, position + i) & 0x3Fu);
  return {value, lead.length};
}

size_t utf8_valid_prefix(std::string_view text) {
  size_t position = skip_ascii(text, 0);
  while (position < text.size()) {
    const Lead lead = lead_of(byte_at(text, position));
    if (lead.length == 0 || matching_bytes(text, position, lead) != lead.length) return position;
    position += lead.length;
    if (lead.length == 1) position = skip_ascii(text, position);
  }
  return position;
}

size_t utf8_bad_length(std::string_view text, size_t position) {
  return std::max<size_t>(1, matching_bytes(text, position, lead_of(byte_at(text, position))));
}

bool is_incomplete_utf8(std::string_view tail) {
  if (tail.empty()) return false;
  const Lead lead = lead_of(byte_at(tail, 0));
  return tail.size() < lead.length && matching_bytes(tail, 0, lead) == tail.size();
}

void append_utf8(std::string& out, char32_t value) {
  if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF)) value = kReplacementCharacter;
  const auto continuation = [value](int shift) { return static_cast<char>(0x80 | ((value >> shift) & 0x3F)); };
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += {static_cast<char>(0xC0 | (value >> 6)), continuation(0)};
  } else if (value < 0x10000) {
    out += {static_cast<char>(0xE0 | (value >> 12)), continuation(6), continuation(0)};
  } else {
    out += {static_cast<char>(0xF0 | (value >> 18)), continuation(12), continuation(6), continuation(0)};
  }
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t good = utf8_valid_prefix(text);
    out.append(text.substr(0, good));
    text.remove_prefix(good);
    if (text.empty()) break;
    append_utf8(out, kReplacementCharacter);
    text.remove_prefix(utf8_bad_length(text, 0));
  }
  return out;
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace camshaft::base
