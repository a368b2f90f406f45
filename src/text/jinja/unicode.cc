// Classes and case forms come from utf8proc; only the few special forms that its simple mapping lacks are written here.
#include "text/jinja/unicode.h"

#include <utf8proc.h>

namespace camshaft::text::jinja {
namespace {

bool is_continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

utf8proc_category_t category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

// Length of a well-formed sequence that starts at `at`, or 0.
uint32_t sequence_length(std::string_view text, size_t at) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t length = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                                                   static_cast<utf8proc_ssize_t>(text.size() - at), &code);
  return length > 0 ? static_cast<uint32_t>(length) : 0;
}

}  // namespace

char32_t decode(std::string_view text, uint64_t at, uint32_t* length) {
  const auto byte = [&](uint64_t i) { return static_cast<uint8_t>(at + i < text.size() ? text[at + i] : 0); };
  const uint8_t first = byte(0);
  if (first < 0x80) return *length = 1, first;
  if (first < 0xE0) return *length = 2, (first & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
  if (first < 0xF0) return *length = 3, (first & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
  return *length = 4, (first & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
}

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

size_t find_invalid_utf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const uint32_t length = static_cast<uint8_t>(text[at]) < 0x80 ? 1 : sequence_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

uint64_t count_chars(std::string_view text) {
  uint64_t count = 0;
  for (char c : text) count += !is_continuation(c);
  return count;
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

bool is_printable(char32_t code) {
  if (code < 0x7F) return code >= 0x20;
  switch (category(code)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS: return false;
    default: return true;
  }
}

bool is_alpha(char32_t code) {
  const auto c = category(code);
  return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}
bool is_digit(char32_t code) { return code < 0x80 ? code >= '0' && code <= '9' : category(code) == UTF8PROC_CATEGORY_ND; }
bool is_upper(char32_t code) { return category(code) == UTF8PROC_CATEGORY_LU; }
bool is_lower(char32_t code) { return category(code) == UTF8PROC_CATEGORY_LL; }

bool is_line_end(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 || code == 0x2029;
}

void append_lower(std::string& out, char32_t code) {
  if (code == 0x130) return append_utf8(out, 'i'), append_utf8(out, 0x307);
  append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
}

void append_upper(std::string& out, char32_t code) {
  switch (code) {
    case 0xDF: out += "SS"; return;
    case 0xFB00: out += "FF"; return;
    case 0xFB01: out += "FI"; return;
    case 0xFB02: out += "FL"; return;
    default: append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(code))));
  }
}

void append_title(std::string& out, char32_t code) {
  if (code == 0xDF) {
    out += "Ss";
    return;
  }
  append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(code))));
}

}  // namespace camshaft::text::jinja
