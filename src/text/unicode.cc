// Owner of utf8proc: categories and normal forms. The UTF-8 stepping here needs no library.
#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace camshaft::text {

namespace {

// Allowed range of the second byte after each lead byte (Unicode standard, table 3-7).
struct SecondByte {
  uint8_t length;  // 0: no lead byte
  uint8_t low, high;
};

SecondByte second_byte(unsigned char lead) {
  if (lead < 0xC2) return {0, 0, 0};
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};
  if (lead == 0xED) return {3, 0x80, 0x9F};
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

bool eight_ascii(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof(word));
  return (word & 0x8080808080808080u) == 0;
}

bool all_ascii(std::string_view text) {
  size_t at = 0;
  while (at + 8 <= text.size() && eight_ascii(text.data() + at)) at += 8;
  return std::all_of(text.begin() + static_cast<ptrdiff_t>(at), text.end(),
                     [](char c) { return static_cast<signed char>(c) >= 0; });
}

}  // namespace

Utf8Step utf8_step(std::string_view rest) {
  using State = Utf8Step::State;
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(rest[i]); };
  if (byte(0) < 0x80) return {State::kWhole, 1};
  const SecondByte second = second_byte(byte(0));
  if (second.length == 0) return {State::kInvalid, 1};
  for (uint8_t i = 1; i < second.length; ++i) {
    if (i == rest.size()) return {State::kCut, i};
    const bool fits = i == 1 ? byte(1) >= second.low && byte(1) <= second.high : (byte(i) & 0xC0) == 0x80;
    if (!fits) return {State::kInvalid, i};
  }
  return {State::kWhole, second.length};
}

size_t utf8_valid_length(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    if (at + 8 <= text.size() && eight_ascii(text.data() + at)) {
      at += 8;
      continue;
    }
    const Utf8Step step = utf8_step(text.substr(at));
    if (step.state != Utf8Step::State::kWhole) return at;
    at += step.size;
  }
  return at;
}

void append_utf8_lossy(std::string& pending, std::string_view bytes, std::string& out) {
  std::string joined;
  if (!pending.empty()) {
    joined = pending;
    joined += bytes;
    bytes = joined;
    pending.clear();
  }
  for (size_t at = 0; at < bytes.size();) {
    const Utf8Step step = utf8_step(bytes.substr(at));
    if (step.state == Utf8Step::State::kWhole) out += bytes.substr(at, step.size);
    if (step.state == Utf8Step::State::kInvalid) out += "\xEF\xBF\xBD";
    if (step.state == Utf8Step::State::kCut) pending = bytes.substr(at);
    at += step.size;
  }
}

void append_utf8(std::string& out, char32_t value) {
  utf8proc_uint8_t buffer[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), buffer);
  out.append(reinterpret_cast<const char*>(buffer), static_cast<size_t>(size));
}

uint8_t char_class_slow(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return kSpace;
    case UTF8PROC_CATEGORY_CC: return c == 0x85 ? kSpace : 0;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return kMark;
    case UTF8PROC_CATEGORY_PC: return kPunctuation | kConnector;
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return kPunctuation;
    default: return 0;
  }
}

namespace {

int combining_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

std::vector<utf8proc_int32_t> decompose(std::string_view text, utf8proc_option_t options) {
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size() + 1);  // one more: utf8proc's composing writes behind what it keeps
  int boundary = UTF8PROC_BOUNDCLASS_START;
  for (size_t at = 0; at < text.size();) {
    const CodePoint c = decode_valid(text, at);
    at += c.size;
    utf8proc_int32_t parts[32];  // the longest decomposition (U+FDFA) has 18
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.value), parts, 32, options, &boundary);
    out.insert(out.end(), parts, parts + std::max<utf8proc_ssize_t>(count, 0));
  }
  return out;
}

// Canonical ordering. utf8proc's own sort is quadratic in the length of a run of marks, so runs are sorted here.
void order_marks(std::vector<utf8proc_int32_t>& text) {
  for (size_t at = 0; at < text.size();) {
    if (combining_class(text[at]) == 0) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && combining_class(text[end]) != 0) ++end;
    std::stable_sort(text.begin() + static_cast<ptrdiff_t>(at), text.begin() + static_cast<ptrdiff_t>(end),
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    at = end;
  }
}

}  // namespace

std::string normalize(std::string_view text, api::NormalizerKind kind) {
  using Kind = api::NormalizerKind;
  if (kind == Kind::kNone || all_ascii(text)) return std::string(text);
  const bool compatible = kind == Kind::kNfkc || kind == Kind::kNfkd;
  const bool compose = kind == Kind::kNfc || kind == Kind::kNfkc;
  const auto options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  auto points = decompose(text, static_cast<utf8proc_option_t>(options));
  order_marks(points);
  auto size = static_cast<utf8proc_ssize_t>(points.size());
  if (compose) {
    size = utf8proc_normalize_utf32(points.data(), size, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  }
  std::string out;
  out.reserve(text.size());
  for (utf8proc_ssize_t i = 0; i < size; ++i) append_utf8(out, static_cast<char32_t>(points[static_cast<size_t>(i)]));
  return out;
}

}  // namespace camshaft::text
