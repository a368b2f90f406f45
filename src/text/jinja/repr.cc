// str() and repr() of values.
#include "text/jinja/repr.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "text/jinja/failure.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

constexpr uint32_t kMaxReprDepth = kMaxValueDepth + 8;  // namespaces can hold themselves

struct Repr {
  Heap& heap;
  std::string out;

  void value(Value value, uint32_t depth);
  void string(const Str* text);
  void dict(const Dict& dict, uint32_t depth);
  void items(const List& list, std::string_view open, std::string_view close, uint32_t depth);
  void add(std::string_view text) {
    heap.scan(text.size());
    heap.require(out.size() + text.size(), 1);
    out += text;
  }
};

void append_escaped(std::string& out, char32_t code, char quote) {
  if (code == static_cast<char32_t>(quote) || code == '\\') {
    out += '\\';
    out += static_cast<char>(code);
  } else if (code == '\n') {
    out += "\\n";
  } else if (code == '\r') {
    out += "\\r";
  } else if (code == '\t') {
    out += "\\t";
  } else if (is_printable(code)) {
    base::append_utf8(out, code);
  } else if (code < 0x100) {
    out += format("\\x{:02x}", static_cast<uint32_t>(code));
  } else if (code < 0x10000) {
    out += format("\\u{:04x}", static_cast<uint32_t>(code));
  } else {
    out += format("\\U{:08x}", static_cast<uint32_t>(code));
  }
}

void Repr::string(const Str* text) {
  const std::string_view all = bytes(heap, text);
  const bool single = all.find('\'') == std::string_view::npos || all.find('"') != std::string_view::npos;
  const char quote = single ? '\'' : '"';
  std::string escaped(1, quote);
  heap.scan(all.size() * 4);
  heap.require(out.size() + all.size() * 2, 1);
  for (uint64_t at = 0; at < all.size();) {
    uint32_t size = 0;
    append_escaped(escaped, decode(all, at, &size), quote);
    at += size;
  }
  add(escaped += quote);
}

void Repr::items(const List& list, std::string_view open, std::string_view close, uint32_t depth) {
  add(open);
  for (uint64_t i = 0; i < list.size; ++i) {
    if (i) add(", ");
    value(list.items[i], depth + 1);
  }
  if (list.size == 1 && open == "(") add(",");
  add(close);
}

void Repr::dict(const Dict& dict, uint32_t depth) {
  add("{");
  for (const Entry& entry : dict) {
    if (&entry != dict.entries) add(", ");
    value(entry.key, depth + 1);
    add(": ");
    value(entry.value, depth + 1);
  }
  add("}");
}

void Repr::value(Value value, uint32_t depth) {
  if (depth > kMaxReprDepth) fail_limit("value depth", kMaxReprDepth, "levels");
  heap.node();
  switch (value.kind) {
    case Kind::kUndefined: return add("Undefined");
    case Kind::kNone: return add("None");
    case Kind::kBool: return add(value.boolean ? "True" : "False");
    case Kind::kInt: return add(std::to_string(value.integer));
    case Kind::kBigInt: return add(std::to_string(value.big));
    case Kind::kFloat: return add(float_repr(value.real));
    case Kind::kString: return string(value.str);
    case Kind::kList: return items(*value.list, "[", "]", depth);
    case Kind::kTuple: return items(*value.list, "(", ")", depth);
    case Kind::kDict: return dict(*value.dict, depth);
    case Kind::kNamespace:
      add("<Namespace ");
      dict(value.space->attributes, depth + 1);
      return add(">");
    default: return add(format("<{} object>", type_name(value)));
  }
}

bool has_content(Heap& heap, Value value, uint32_t depth) {
  if (depth > kMaxReprDepth) fail_limit("value depth", kMaxReprDepth, "levels");
  heap.node();
  if (value.is_string()) return whole_origin(heap, value.str) == Origin::kContent;
  if (value.origin == Origin::kContent) return true;
  const auto in_dict = [&](const Dict& dict) {
    return std::any_of(dict.begin(), dict.end(), [&](const Entry& e) {
      return has_content(heap, e.key, depth + 1) || has_content(heap, e.value, depth + 1);
    });
  };
  if (value.is_sequence())
    return std::any_of(value.list->begin(), value.list->end(), [&](Value item) { return has_content(heap, item, depth + 1); });
  if (value.is(Kind::kDict)) return in_dict(*value.dict);
  return value.is(Kind::kNamespace) && in_dict(value.space->attributes);
}

}  // namespace

const Str* to_str(Heap& heap, Value value) {
  if (value.is_string()) return value.str;
  if (value.is_undefined()) return make_str(heap, {}, Origin::kTemplate);
  return copy_str(heap, to_repr(heap, value), deep_origin(heap, value));
}

std::string to_repr(Heap& heap, Value value) {
  Repr repr{heap, {}};
  repr.value(value, 0);
  return std::move(repr.out);
}

Origin deep_origin(Heap& heap, Value value) { return has_content(heap, value, 0) ? Origin::kContent : Origin::kTemplate; }

std::string float_repr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<size_t>(end - buffer));
  const size_t e = scientific.find('e');
  int exponent = 0;
  std::from_chars(scientific.data() + e + (scientific[e + 1] == '+' ? 2 : 1), end, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);
  const auto fixed_end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed).ptr;
  std::string fixed(buffer, fixed_end);
  return fixed.find('.') == std::string::npos ? fixed + ".0" : fixed;
}

std::string float_fixed(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[1024];  // 309 digits before the point, at most 512 behind
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::fixed, std::clamp(digits, 0, 512)).ptr;
  return {buffer, end};
}

}  // namespace camshaft::text::jinja
