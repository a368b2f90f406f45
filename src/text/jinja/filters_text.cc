// Filters on text.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

Value like(Value subject, const Str* text) { return Value::str_of(text, subject.is_string() && subject.markup); }

template <Case to>
Value filter_case(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return like(subject, change_case(in.heap(), to_str(in.heap(), subject), to));
}

// Words of the title filter begin behind white space, - and opening brackets, unlike those of str.title().
Value filter_title(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  const Str* text = to_str(in.heap(), subject);
  StrBuilder out(in.heap());
  bool start = true;
  for_each_run(in.heap(), text, 0, text->size, [&](std::string_view run, Origin origin) {
    in.heap().scan(run.size() * 4);
    std::string changed;
    for (uint64_t at = 0; at < run.size();) {
      uint32_t size = 0;
      const char32_t code = decode(run, at, &size);
      start ? append_upper(changed, code) : append_lower(changed, code);
      start = is_space(code) || (code < 0x80 && std::string_view("-({[<").find(static_cast<char>(code)) != std::string_view::npos);
      at += size;
    }
    out.append(changed, origin);
  });
  return like(subject, out.finish());
}

Value filter_trim(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"chars"});
  return like(subject, strip(in.heap(), to_str(in.heap(), subject), args.string(0, nullptr), Side::kBoth));
}

Value filter_string(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return like(subject, to_str(in.heap(), subject));
}

Value filter_safe(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return Value::str_of(to_str(in.heap(), subject), true);
}

Value filter_escape(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  if (subject.is_string() && subject.markup) return subject;
  return escape_html(in.heap(), to_str(in.heap(), subject));
}

Value filter_forceescape(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return escape_html(in.heap(), to_str(in.heap(), subject));
}

Value filter_replace(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"old", "new", "count"}, 2);
  return Value::str_of(replace(heap, to_str(heap, subject), to_str(heap, args[0]), to_str(heap, args[1]), args.integer(2, -1)));
}

Value filter_center(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"width"});
  const Str blank{" ", 1, 1};
  return like(subject, pad(in.heap(), to_str(in.heap(), subject), args.integer(0, 80), &blank, Side::kBoth));
}

// A line end at the end starts one more line, and so does empty text.
bool ends_with_line_end(std::string_view text) {
  if (text.empty()) return true;
  uint64_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  uint32_t size = 0;
  return is_line_end(decode(text, at, &size));
}

Value filter_indent(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"width", "first", "blank"});
  if (subject.is_undefined()) fail_missing(heap, subject);
  if (!subject.is_string()) fail(format("indent needs a string, not '{}'", type_name(subject)));
  Value width = args.value_or(0, Value::int_of(4));
  const Value blank = make_string(heap, " ");
  if (width.is_integer()) width = repeat(heap, blank, width.as_int());
  if (!width.is_string()) fail("indent: the width must be a number or a string");
  std::vector<Value> lines = split_lines(heap, subject.str, false);
  if (ends_with_line_end(bytes(heap, subject.str))) lines.push_back(make_string(heap, ""));
  StrBuilder out(heap);
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool indented = i == 0 ? args.boolean(1, false) : args.boolean(2, false) || lines[i].str->size > 0;
    if (i) out.append("\n", Origin::kTemplate);
    if (indented) out.append(width.str);
    out.append(lines[i].str);
  }
  return like(subject, out.finish());
}

Value filter_truncate(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"length", "killwords", "end", "leeway"});
  const Str dots{"...", 3, 3};
  const Str* text = to_str(heap, subject);
  const Str* end = args.string(2, &dots);
  const int64_t limit = args.integer(0, 255), leeway = args.integer(3, 5);
  const auto end_size = static_cast<int64_t>(length(heap, end)), size = static_cast<int64_t>(length(heap, text));
  if (limit < end_size || leeway < 0 || leeway > INT64_MAX - limit)
    fail("truncate: the length must not be below that of its end, nor the leeway below 0");
  if (size <= limit + leeway) return like(subject, text);
  const Str* kept = slice_bytes(heap, text, 0, byte_of_char(bytes(heap, text), static_cast<uint64_t>(limit - end_size)));
  if (!args.boolean(1, false)) {
    const size_t blank = bytes(heap, kept).rfind(' ');
    if (blank != std::string_view::npos) kept = slice_bytes(heap, kept, 0, blank);
  }
  const Str* stable_end = end != &dots ? end : copy_str(heap, "...", Origin::kTemplate);
  return like(subject, concat(heap, kept, stable_end));
}

Value filter_wordcount(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  const std::string_view text = bytes(in.heap(), to_str(in.heap(), subject));
  in.heap().scan(text.size() * 4);
  int64_t words = 0;
  bool inside = false;
  for (uint64_t at = 0; at < text.size();) {
    uint32_t size = 0;
    const char32_t code = decode(text, at, &size);
    const bool word = is_alpha(code) || is_digit(code) || code == '_';
    words += word && !inside;
    inside = word;
    at += size;
  }
  return Value::int_of(words);
}

Value filter_format(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  if (!call.args.empty() && !call.named.empty()) fail("format takes positional or named arguments, not both");
  const Value pattern = like(subject, to_str(heap, subject));
  if (call.named.empty()) return percent_format(heap, pattern, make_list(heap, call.args, Kind::kTuple));
  Dict* named = heap.make<Dict>();
  for (const auto& [name, value] : call.named) dict_set(heap, *named, make_string(heap, name), value);
  return percent_format(heap, pattern, dict_value(named));
}

Value filter_urlencode(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  const Str* text = to_str(in.heap(), subject);
  StrBuilder out(in.heap());
  for_each_run(in.heap(), text, 0, text->size, [&](std::string_view run, Origin origin) {
    std::string changed;
    in.heap().scan(run.size() * 8);
    for (char c : run) {
      const bool plain =
          (static_cast<uint8_t>(c) < 0x80 && (is_alpha(static_cast<uint8_t>(c)) || is_digit(static_cast<uint8_t>(c)))) ||
          std::string_view("_.-~/").find(c) != std::string_view::npos;
      changed += plain ? std::string(1, c) : format("%{:02X}", static_cast<uint32_t>(static_cast<uint8_t>(c)));
    }
    out.append(changed, origin);
  });
  return Value::str_of(out.finish());
}

std::optional<std::string> json_indent(Heap& heap, Value value) {
  if (value.is(Kind::kNone)) return std::nullopt;
  if (value.is_string()) return std::string(bytes(heap, value.str));
  if (!value.is_integer()) fail("tojson: indent must be a number or a string");
  if (value.as_int() > 64) fail_limit("indent", 64, "characters");
  return std::string(static_cast<size_t>(std::max<int64_t>(value.as_int(), 0)), ' ');
}

Value filter_tojson(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ascii = args.boolean(0, false);
  style.indent = json_indent(heap, args.value_or(1, Value::none()));
  style.sort_keys = args.boolean(3, false);
  if (style.indent) style.item_separator = ",";
  const Value separators = args.value_or(2, Value::none());
  if (separators.is_sequence() && separators.list->size == 2 && separators.list->items[0].is_string() &&
      separators.list->items[1].is_string()) {
    style.item_separator = bytes(heap, separators.list->items[0].str);
    style.key_separator = bytes(heap, separators.list->items[1].str);
  } else if (!separators.is(Kind::kNone)) {
    fail("tojson: separators must be two strings");
  }
  return make_string(heap, to_json(heap, subject, style), deep_origin(heap, subject));
}

constexpr Named<FilterFunction> kFilters[] = {
    {"trim", filter_trim},
    {"upper", filter_case<Case::kUpper>},
    {"lower", filter_case<Case::kLower>},
    {"capitalize", filter_case<Case::kCapital>},
    {"title", filter_title},
    {"string", filter_string},
    {"safe", filter_safe},
    {"escape", filter_escape},
    {"e", filter_escape},
    {"forceescape", filter_forceescape},
    {"replace", filter_replace},
    {"center", filter_center},
    {"indent", filter_indent},
    {"truncate", filter_truncate},
    {"wordcount", filter_wordcount},
    {"format", filter_format},
    {"urlencode", filter_urlencode},
    {"tojson", filter_tojson},
};

}  // namespace

FilterFunction find_text_filter(std::string_view name) { return find_named(kFilters, name); }

FilterFunction find_filter(std::string_view name) {
  for (const auto find : {find_text_filter, find_number_filter, find_list_filter, find_order_filter}) {
    if (const FilterFunction filter = find(name)) return filter;
  }
  return nullptr;
}

}  // namespace camshaft::text::jinja
