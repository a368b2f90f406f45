// String methods that answer questions: where, how often, of what class.
#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

// The part of the text that optional start and end arguments leave, with the character index where it starts.
struct Window {
  std::string_view text;
  int64_t start = 0;
  bool valid = true;  // the start is not behind the end: else even the empty string is not found
};

Window window_of(Heap& heap, const Str* text, const Arguments& args) {
  const auto size = static_cast<int64_t>(length(heap, text));
  const auto clip = [&](int64_t at) { return at < 0 ? std::max<int64_t>(0, std::max(at, -size) + size) : at; };
  const int64_t start = clip(args.integer(1, 0)), end = std::min(clip(args.integer(2, size)), size);
  if (start > end || start > size) return {{}, start, false};
  const std::string_view all = bytes(heap, text);
  heap.scan(all.size());
  const uint64_t from = byte_of_char(all, static_cast<uint64_t>(start));
  return {all.substr(from, byte_of_char(all.substr(from), static_cast<uint64_t>(end - start))), start};
}

std::string_view needle_of(Heap& heap, const Arguments& args) {
  const Str* needle = args.string(0, nullptr);
  if (!needle) fail("a string to look for must be given");
  return bytes(heap, needle);
}

enum class Which : uint8_t { kFirst, kLast };
enum class Absent : uint8_t { kMinusOne, kError };

template <Which which, Absent absent>
Value method_find(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"sub", "start", "end"}, 1);
  const Window window = window_of(in.heap(), self.str, args);
  const std::string_view needle = needle_of(in.heap(), args);
  in.heap().scan(window.text.size() + needle.size());
  const size_t hit = !window.valid            ? std::string_view::npos
                     : which == Which::kFirst ? window.text.find(needle)
                                              : window.text.rfind(needle);
  if (hit != std::string_view::npos)
    return Value::int_of(window.start + static_cast<int64_t>(base::count_code_points(window.text.substr(0, hit))));
  if (absent == Absent::kError) fail("substring not found");
  return Value::int_of(-1);
}

Value method_count(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"sub", "start", "end"}, 1);
  const Window window = window_of(in.heap(), self.str, args);
  const std::string_view needle = needle_of(in.heap(), args);
  in.heap().scan(window.text.size() + needle.size());
  if (!window.valid) return Value::int_of(0);
  if (needle.empty()) return Value::int_of(static_cast<int64_t>(base::count_code_points(window.text)) + 1);
  int64_t count = 0;
  for (size_t at = window.text.find(needle); at != std::string_view::npos; at = window.text.find(needle, at + needle.size()))
    ++count;
  return Value::int_of(count);
}

enum class Edge : uint8_t { kStart, kEnd };

// The needle may be a tuple of strings.
template <Edge edge>
Value method_edge(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"affix", "start", "end"}, 1);
  const Window window = window_of(in.heap(), self.str, args);
  const auto fits = [&](Value affix) {
    if (!affix.is_string()) fail(format("{} needs a string or a tuple of strings, not '{}'", call.what, type_name(affix)));
    const std::string_view text = bytes(in.heap(), affix.str);
    in.heap().scan(text.size());
    return window.valid && (edge == Edge::kStart ? window.text.starts_with(text) : window.text.ends_with(text));
  };
  if (!args[0].is(Kind::kTuple)) return Value::boolean_of(fits(args[0]));
  return Value::boolean_of(std::any_of(args[0].list->begin(), args[0].list->end(), fits));
}

bool is_alnum(char32_t code) { return is_alpha(code) || is_digit(code); }

// Whether `passes` says yes to every character; it sees none behind the first no.
template <typename Passes>
bool every_char(Interpreter& in, Value self, const Call& call, Passes passes) {
  const Arguments none(in.heap(), call, {});
  const std::string_view text = bytes(in.heap(), self.str);
  in.heap().scan(text.size() * 4);
  uint32_t size = 0;
  for (uint64_t at = 0; at < text.size(); at += size) {
    if (!passes(decode(text, at, &size))) return false;
  }
  return true;
}

// Not empty, and every character passes.
template <bool (*passes)(char32_t)>
Value method_all(Interpreter& in, Value self, const Call& call) {
  return Value::boolean_of(every_char(in, self, call, passes) && self.str->size > 0);
}

// At least one character with case, and none of the other case.
template <bool (*wanted)(char32_t), bool (*other)(char32_t)>
Value method_cased(Interpreter& in, Value self, const Call& call) {
  bool found = false;
  const bool clean = every_char(in, self, call, [&](char32_t code) {
    found |= wanted(code);
    return !other(code);
  });
  return Value::boolean_of(clean && found);
}

Value method_isascii(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return Value::boolean_of(length(in.heap(), self.str) == self.str->size);
}

Value method_istitle(Interpreter& in, Value self, const Call& call) {
  bool found = false, inside = false;
  const bool clean = every_char(in, self, call, [&](char32_t code) {
    if ((is_upper(code) && inside) || (is_lower(code) && !inside)) return false;
    inside = is_upper(code) || is_lower(code);
    found |= inside;
    return true;
  });
  return Value::boolean_of(clean && found);
}

Value method_isidentifier(Interpreter& in, Value self, const Call& call) {
  bool first = true;
  const bool clean = every_char(in, self, call, [&](char32_t code) {
    const bool starts = std::exchange(first, false);
    return is_alpha(code) || code == '_' || (!starts && is_digit(code));
  });
  return Value::boolean_of(clean && self.str->size > 0);
}

constexpr Named<MethodFunction> kSearch[] = {
    {"find", method_find<Which::kFirst, Absent::kMinusOne>},
    {"rfind", method_find<Which::kLast, Absent::kMinusOne>},
    {"index", method_find<Which::kFirst, Absent::kError>},
    {"rindex", method_find<Which::kLast, Absent::kError>},
    {"count", method_count},
    {"startswith", method_edge<Edge::kStart>},
    {"endswith", method_edge<Edge::kEnd>},
};

constexpr Named<MethodFunction> kClasses[] = {
    {"isspace", method_all<is_space>},
    {"isalpha", method_all<is_alpha>},
    {"isdigit", method_all<is_digit>},
    {"isdecimal", method_all<is_digit>},
    {"isnumeric", method_all<is_digit>},
    {"isalnum", method_all<is_alnum>},
    {"islower", method_cased<is_lower, is_upper>},
    {"isupper", method_cased<is_upper, is_lower>},
    {"istitle", method_istitle},
    {"isascii", method_isascii},
    {"isidentifier", method_isidentifier},
};

}  // namespace

MethodFunction find_string_search(std::string_view name) { return find_named(kSearch, name); }
MethodFunction find_string_class(std::string_view name) { return find_named(kClasses, name); }

}  // namespace camshaft::text::jinja
