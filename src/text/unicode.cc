// Owner of utf8proc: categories, case and normal forms.
#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/utf8.h"

namespace camshaft::text {

namespace {

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

void append_utf8_lossy(std::string& pending, std::string_view bytes, std::string& out) {
  std::string joined;
  if (!pending.empty()) {
    joined = pending;
    joined += bytes;
    bytes = joined;
    pending.clear();
  }
  while (!bytes.empty()) {
    const size_t whole = base::utf8_valid_prefix(bytes);
    out += bytes.substr(0, whole);
    bytes.remove_prefix(whole);
    if (bytes.empty()) return;
    if (base::is_incomplete_utf8(bytes)) {
      pending = bytes;
      return;
    }
    base::append_utf8(out, base::kReplacementCharacter);
    bytes.remove_prefix(base::utf8_bad_length(bytes, 0));
  }
}

uint16_t char_class_slow(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU: return kGraphic | kLetter | kUpper;
    case UTF8PROC_CATEGORY_LL: return kGraphic | kLetter | kLower;
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO: return kGraphic | kLetter;
    case UTF8PROC_CATEGORY_ND: return kGraphic | kNumber | kDecimal;
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO: return kGraphic | kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP: return kSpace;
    case UTF8PROC_CATEGORY_CC: return c == 0x85 ? kSpace : 0;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME: return kGraphic | kMark;
    case UTF8PROC_CATEGORY_PC: return kGraphic | kPunctuation | kConnector;
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO: return kGraphic | kPunctuation;
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SC:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_SO: return kGraphic;
    default: return 0;
  }
}

char32_t to_lower(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }
char32_t to_upper(char32_t c) { return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))); }
char32_t to_title(char32_t c) { return static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))); }

namespace {

int combining_class(utf8proc_int32_t c) { return utf8proc_get_property(c)->combining_class; }

std::vector<utf8proc_int32_t> decompose(std::string_view text, utf8proc_option_t options) {
  std::vector<utf8proc_int32_t> out;
  out.reserve(text.size() + 1);  // one more: utf8proc's composing writes behind what it keeps
  int boundary = UTF8PROC_BOUNDCLASS_START;
  for (size_t at = 0; at < text.size();) {
    const ValidCodePoint c = decode_valid(text, at);
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
  for (utf8proc_ssize_t i = 0; i < size; ++i) base::append_utf8(out, static_cast<char32_t>(points[static_cast<size_t>(i)]));
  return out;
}

}  // namespace camshaft::text
