// String methods that make strings and lists of strings.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_ops.h"

namespace camshaft::text::jinja {
namespace {

Value like(Value self, const Str* text) { return Value::str_of(text, self.markup); }

template <Case to>
Value method_case(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return like(self, change_case(in.heap(), self.str, to));
}

template <Side side>
Value method_strip(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"chars"});
  return like(self, strip(in.heap(), self.str, args.string(0, nullptr), side));
}

template <Side from>
Value method_split(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"sep", "maxsplit"});
  return make_list(in.heap(), split(in.heap(), self.str, args.string(0, nullptr), args.integer(1, -1), from));
}

Value method_splitlines(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"keepends"});
  return make_list(in.heap(), split_lines(in.heap(), self.str, args.boolean(0, false)));
}

// (before, separator, after); without a hit the text stands on the side that was searched first.
template <Side from>
Value method_partition(Interpreter& in, Value self, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"sep"}, 1);
  const Str* separator = args.string(0, make_str(heap, {}, Origin::kTemplate));
  const std::vector<Value> parts = split(heap, self.str, separator, 1, from);
  const Value empty = make_string(heap, "");
  if (parts.size() == 2) return make_list(heap, {parts[0], Value::str_of(separator), parts[1]}, Kind::kTuple);
  return from == Side::kLeft ? make_list(heap, {self, empty, empty}, Kind::kTuple)
                             : make_list(heap, {empty, empty, self}, Kind::kTuple);
}

Value method_replace(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"old", "new", "count"}, 2);
  const Str* none = make_str(in.heap(), {}, Origin::kTemplate);
  return like(self, replace(in.heap(), self.str, args.string(0, none), args.string(1, none), args.integer(2, -1)));
}

Value method_join(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"iterable"}, 1);
  return like(self, join(in.heap(), self.str, items_of(in.heap(), args[0])));
}

Value method_format(Interpreter& in, Value self, const Call& call) { return brace_format(in.heap(), self, call); }

template <Side side>
Value method_pad(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"width", "fillchar"}, 1);
  return like(self,
              pad(in.heap(), self.str, args.integer(0, 0), args.string(1, make_str(in.heap(), " ", Origin::kTemplate)), side));
}

Value method_zfill(Interpreter& in, Value self, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"width"}, 1);
  const std::string_view text = bytes(heap, self.str);
  const size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const Str* digits = slice_bytes(heap, self.str, sign, text.size());
  const int64_t width = std::max<int64_t>(args.integer(0, 0), 0);
  const Str* padded = pad(heap, digits, width - static_cast<int64_t>(sign), make_str(heap, "0", Origin::kTemplate), Side::kLeft);
  return like(self, concat(heap, slice_bytes(heap, self.str, 0, sign), padded));
}

Value method_removeprefix(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"prefix"}, 1);
  const std::string_view text = bytes(in.heap(), self.str), prefix = bytes(in.heap(), args.string(0, self.str));
  return text.starts_with(prefix) ? like(self, slice_bytes(in.heap(), self.str, prefix.size(), text.size())) : self;
}

Value method_removesuffix(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"suffix"}, 1);
  const std::string_view text = bytes(in.heap(), self.str), suffix = bytes(in.heap(), args.string(0, self.str));
  return text.ends_with(suffix) ? like(self, slice_bytes(in.heap(), self.str, 0, text.size() - suffix.size())) : self;
}

Value method_expandtabs(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"tabsize"});
  const int64_t width = std::clamp<int64_t>(args.integer(0, 8), 0, 256);
  StrBuilder out(in.heap());
  int64_t column = 0;
  for (Value each : items_of(in.heap(), self)) {
    const std::string_view one = bytes(in.heap(), each.str);
    if (one == "\t") {
      const int64_t blanks = width ? width - column % width : 0;
      out.append(std::string(static_cast<size_t>(blanks), ' '), each.str->origin);
      column += blanks;
    } else {
      out.append(each.str);
      column = one == "\n" || one == "\r" ? 0 : column + 1;
    }
  }
  return like(self, out.finish());
}

constexpr Named<MethodFunction> kMethods[] = {
    {"strip", method_strip<Side::kBoth>},
    {"lstrip", method_strip<Side::kLeft>},
    {"rstrip", method_strip<Side::kRight>},
    {"split", method_split<Side::kLeft>},
    {"rsplit", method_split<Side::kRight>},
    {"splitlines", method_splitlines},
    {"partition", method_partition<Side::kLeft>},
    {"rpartition", method_partition<Side::kRight>},
    {"replace", method_replace},
    {"upper", method_case<Case::kUpper>},
    {"lower", method_case<Case::kLower>},
    {"casefold", method_case<Case::kLower>},
    {"title", method_case<Case::kTitle>},
    {"capitalize", method_case<Case::kCapital>},
    {"swapcase", method_case<Case::kSwap>},
    {"join", method_join},
    {"format", method_format},
    {"center", method_pad<Side::kBoth>},
    {"ljust", method_pad<Side::kRight>},
    {"rjust", method_pad<Side::kLeft>},
    {"zfill", method_zfill},
    {"removeprefix", method_removeprefix},
    {"removesuffix", method_removesuffix},
    {"expandtabs", method_expandtabs},
};

}  // namespace

MethodFunction find_string_method(std::string_view name) {
  if (const MethodFunction method = find_named(kMethods, name)) return method;
  if (const MethodFunction method = find_string_search(name)) return method;
  return find_string_class(name);
}

}  // namespace camshaft::text::jinja
