// Python's two formatting languages: "%s" % value and "{}".format(value).
#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja/access.h"
#include "text/jinja/arguments.h"
#include "text/jinja/failure.h"
#include "text/jinja/repr.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

constexpr uint64_t kMaxWidth = 65536;
constexpr int kMaxPrecision = 512;

bool is_ascii_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a number at `at`; 0 digits give `otherwise`.
uint64_t read_number(std::string_view text, size_t& at, uint64_t limit, uint64_t otherwise) {
  if (at >= text.size() || !is_ascii_digit(text[at])) return otherwise;
  uint64_t number = 0;
  for (; at < text.size() && is_ascii_digit(text[at]); ++at) {
    number = number * 10 + static_cast<uint64_t>(text[at] - '0');
    if (number > limit) fail_limit("format width or precision", limit, "characters");
  }
  return number;
}

std::string radix_digits(uint64_t magnitude, char type) {
  char buffer[72];
  const int base = type == 'b' ? 2 : type == 'o' ? 8 : type == 'x' || type == 'X' ? 16 : 10;
  std::string digits(buffer, std::to_chars(buffer, buffer + sizeof(buffer), magnitude, base).ptr);
  if (type == 'X') std::transform(digits.begin(), digits.end(), digits.begin(), [](char c) { return c >= 'a' ? c - 32 : c; });
  return digits;
}

std::string scientific_digits(double magnitude, int precision) {
  char buffer[1024];
  return {buffer, std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::scientific, precision).ptr};
}

std::string general_digits(double magnitude, int precision) {
  char buffer[1024];
  return {buffer,
          std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::general, std::max(precision, 1)).ptr};
}

std::string upper_ascii(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return text;
}

std::string float_digits(double magnitude, const FormatSpec& spec) {
  const int precision = spec.precision < 0 ? 6 : spec.precision;
  switch (spec.type) {
    case 'f':
    case 'F': return float_fixed(magnitude, precision);
    case '%': return float_fixed(magnitude * 100, precision) + "%";
    case 'e': return scientific_digits(magnitude, precision);
    case 'E': return upper_ascii(scientific_digits(magnitude, precision));
    case 'g':
    case 'n': return general_digits(magnitude, precision);
    case 'G': return upper_ascii(general_digits(magnitude, precision));
    default: return spec.precision < 0 ? float_repr(magnitude) : general_digits(magnitude, precision);
  }
}

std::string group_thousands(const std::string& digits, char separator) {
  const size_t whole = std::min(digits.find_first_not_of("0123456789"), digits.size());
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i && i < whole && (whole - i) % 3 == 0) out += separator;
    out += digits[i];
  }
  return out;
}

struct NumberText {
  std::string prefix;  // sign and 0x
  std::string digits;
};

NumberText number_text(Value value, const FormatSpec& spec) {
  static constexpr std::string_view kIntTypes = "dbxXoc";
  const bool as_float =
      value.is(Kind::kFloat) || (spec.type && kIntTypes.find(spec.type) == std::string_view::npos && spec.type != 'n');
  NumberText text;
  bool negative = false;
  if (as_float) {
    if (value.is(Kind::kFloat) && spec.type && kIntTypes.find(spec.type) != std::string_view::npos)
      fail(format("format code '{}' needs an integer, not a float", spec.type));
    negative = std::signbit(value.as_double());
    text.digits = float_digits(std::fabs(value.as_double()), spec);
  } else {
    negative = !value.is(Kind::kBigInt) && value.as_int() < 0;
    const uint64_t bits = value.is(Kind::kBigInt) ? value.big : static_cast<uint64_t>(value.as_int());
    text.digits = radix_digits(negative ? 0 - bits : bits, spec.type);
    if (spec.alternate && spec.type && spec.type != 'd') text.prefix = std::string("0") + spec.type;
  }
  if (spec.grouping) text.digits = group_thousands(text.digits, spec.grouping);
  if (negative || spec.sign != '-') text.prefix.insert(0, 1, negative ? '-' : spec.sign);
  return text;
}

void append_padded(StrBuilder& out, const Str* body, uint64_t body_chars, const FormatSpec& spec, char align) {
  const uint64_t padding = spec.width > body_chars ? spec.width - body_chars : 0;
  const uint64_t before = align == '>' ? padding : align == '^' ? padding / 2 : 0;
  std::string fill;
  for (uint64_t i = 0; i < std::max(before, padding - before); ++i) fill += spec.fill;
  out.append(std::string_view(fill).substr(0, before * spec.fill.size()), Origin::kTemplate);
  out.append(body);
  out.append(std::string_view(fill).substr(0, (padding - before) * spec.fill.size()), Origin::kTemplate);
}

void append_number(Heap& heap, StrBuilder& out, Value value, const FormatSpec& spec) {
  NumberText text = number_text(value, spec);
  if (spec.align == '=') {
    const uint64_t size = text.prefix.size() + text.digits.size();
    for (uint64_t i = size; i < spec.width; ++i) text.prefix += spec.fill;
  }
  const Str* body = copy_str(heap, text.prefix + text.digits, value.origin);
  append_padded(out, body, length(heap, body), spec, spec.align && spec.align != '=' ? spec.align : '>');
}

void append_string(Heap& heap, StrBuilder& out, const Str* text, const FormatSpec& spec) {
  if (spec.precision >= 0)
    text = slice_bytes(heap, text, 0, byte_of_char(bytes(heap, text), static_cast<uint64_t>(spec.precision)));
  append_padded(out, text, length(heap, text), spec, spec.align && spec.align != '=' ? spec.align : '<');
}

// One "%..." of a percent pattern.
class PercentFormatter {
 public:
  PercentFormatter(Heap& heap, const Str* pattern, Value values) : heap_(heap), pattern_(pattern), values_(values), out_(heap) {
    if (!values.is(Kind::kTuple)) single_ = {values};
    args_ = values.is(Kind::kTuple) ? std::vector<Value>(values.list->begin(), values.list->end()) : single_;
  }

  const Str* run() {
    const std::string_view text = bytes(heap_, pattern_);
    while (at_ < text.size()) {
      const size_t percent = std::min(text.find('%', at_), text.size());
      out_.append(pattern_, at_, percent);
      at_ = percent + 1;
      if (percent < text.size()) directive(text);
    }
    const bool mapping = values_.is(Kind::kDict) || values_.is_sequence();
    if (next_ < args_.size() && !(mapping && !values_.is(Kind::kTuple))) fail("not all arguments of '%' were used by the pattern");
    return out_.finish();
  }

 private:
  Value next_value() {
    if (next_ >= args_.size()) fail("not enough arguments for the pattern of '%'");
    return args_[next_++];
  }

  Value named_value(std::string_view text) {
    const size_t close = text.find(')', at_);
    if (close == std::string_view::npos || !values_.is(Kind::kDict)) fail("'%(name)' needs a mapping and a closing parenthesis");
    const std::string_view name = text.substr(at_ + 1, close - at_ - 1);
    const Value* value = dict_find(heap_, *values_.dict, name);
    if (!value) fail(format("'%({})': the mapping has no such key", name));
    at_ = close + 1;
    return *value;
  }

  void directive(std::string_view text) {
    std::vector<Value> value;
    if (at_ < text.size() && text[at_] == '(') value.push_back(named_value(text));
    FormatSpec spec;
    spec.align = '>';
    for (; at_ < text.size() && std::string_view("-+ 0#").find(text[at_]) != std::string_view::npos; ++at_) flag(spec, text[at_]);
    spec.width = read_number(text, at_, kMaxWidth, 0);
    if (at_ < text.size() && text[at_] == '.') spec.precision = static_cast<int>(read_number(text, ++at_, kMaxPrecision, 0));
    if (at_ >= text.size()) fail("the pattern of '%' ends inside a directive");
    const char type = text[at_++];
    if (type == '%') return out_.append("%", Origin::kTemplate);
    convert(type, value.empty() ? next_value() : value[0], spec);
  }

  static void flag(FormatSpec& spec, char c) {
    if (c == '-') spec.align = '<';
    if (c == '+' || (c == ' ' && spec.sign != '+')) spec.sign = c;
    if (c == '#') spec.alternate = true;
    if (c == '0' && spec.align != '<') spec.align = '=', spec.fill = "0";
  }

  void convert(char type, Value value, FormatSpec spec) {
    if (type == 's' || type == 'r' || type == 'a') {
      spec.fill = " ";
      const Str* text = type == 's' ? to_str(heap_, value) : copy_str(heap_, to_repr(heap_, value), deep_origin(heap_, value));
      if (spec.align == '=') spec.align = '>';
      return append_string(heap_, out_, text, spec);
    }
    if (type == 'i' || type == 'u') type = 'd';
    if (std::string_view("dxXofFeEgG").find(type) == std::string_view::npos) fail(format("unsupported directive '%{}'", type));
    if (value.is_undefined()) fail_missing(heap_, value);
    if (!value.is_number()) fail(format("'%{}' needs a number, not '{}'", type, type_name(value)));
    if (type == 'd' && value.is(Kind::kFloat)) value = truncated(value.real);
    spec.type = type;
    append_number(heap_, out_, value, spec);
  }

  static Value truncated(double real) {
    if (!(std::fabs(real) < 9.2e18)) fail("a float this large has no 64-bit integer form");
    return Value::int_of(static_cast<int64_t>(real));
  }

  Heap& heap_;
  const Str* pattern_;
  Value values_;
  std::vector<Value> single_, args_;
  size_t at_ = 0, next_ = 0;
  StrBuilder out_;
};

// The fields of a brace pattern.
class BraceFormatter {
 public:
  BraceFormatter(Heap& heap, const Str* pattern, const Call& call)
      : heap_(heap), pattern_(pattern), text_(bytes(heap, pattern)), call_(call), out_(heap) {}

  const Str* run() {
    while (at_ < text_.size()) {
      const size_t brace = std::min(text_.find_first_of("{}", at_), text_.size());
      out_.append(pattern_, at_, brace);
      at_ = brace;
      if (brace < text_.size()) at_brace();
    }
    return out_.finish();
  }

 private:
  void at_brace() {
    const char brace = text_[at_];
    if (at_ + 1 < text_.size() && text_[at_ + 1] == brace) {
      out_.append(pattern_, at_, at_ + 1);
      at_ += 2;
      return;
    }
    const size_t close = text_.find('}', at_);
    if (brace == '}' || close == std::string_view::npos) fail("format(): single brace in the pattern; write {{ or }}");
    field(text_.substr(at_ + 1, close - at_ - 1));
    at_ = close + 1;
  }

  void field(std::string_view body) {
    if (body.find('{') != std::string_view::npos) fail("format(): fields inside fields are not supported");
    const size_t colon = std::min(body.find(':'), body.size());
    std::string_view name = body.substr(0, colon);
    char conversion = 0;
    if (const size_t bang = name.find('!'); bang != std::string_view::npos) {
      conversion = bang + 1 < name.size() ? name[bang + 1] : 0;
      if (conversion != 's' && conversion != 'r') fail("format(): unknown conversion; !s and !r are supported");
      name = name.substr(0, bang);
    }
    Value value = look_up(name);
    if (conversion == 's') value = Value::str_of(to_str(heap_, value));
    if (conversion == 'r') value = make_string(heap_, to_repr(heap_, value), deep_origin(heap_, value));
    append_formatted(heap_, out_, value, parse_format_spec(body.substr(std::min(colon + 1, body.size()))));
  }

  Value look_up(std::string_view name) {
    const size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = argument(name.substr(0, end));
    for (size_t at = end; at < name.size();) {
      const bool item = name[at] == '[';
      const size_t stop = item ? name.find(']', at) : std::min(name.find_first_of(".[", at + 1), name.size());
      if (stop == std::string_view::npos) fail("format(): missing ']' in a field");
      const std::string_view key = name.substr(at + 1, stop - at - 1);
      value = item ? get_item(heap_, value, key_value(key)) : get_attribute(heap_, value, copy_str(heap_, key, Origin::kTemplate));
      at = stop + item;
    }
    return value;
  }

  Value key_value(std::string_view key) {
    size_t at = 0;
    const uint64_t number = read_number(key, at, 1'000'000'000, UINT64_MAX);
    if (at == key.size() && number != UINT64_MAX) return Value::int_of(static_cast<int64_t>(number));
    return make_string(heap_, key);
  }

  Value argument(std::string_view name) {
    size_t at = 0;
    const uint64_t number = name.empty() ? next_++ : read_number(name, at, 1'000'000, UINT64_MAX);
    if (number != UINT64_MAX && at == name.size()) {
      if (number >= call_.args.size())
        fail(format("format(): the pattern wants argument {}, {} were given", number, call_.args.size()));
      return call_.args[number];
    }
    for (const auto& [key, value] : call_.named) {
      if (key == name) return value;
    }
    fail(format("format(): no argument named '{}'", name));
  }

  Heap& heap_;
  const Str* pattern_;
  std::string_view text_;
  const Call& call_;
  StrBuilder out_;
  size_t at_ = 0;
  uint64_t next_ = 0;
};

}  // namespace

FormatSpec parse_format_spec(std::string_view text) {
  FormatSpec spec;
  const auto is_align = [&](size_t i) {
    return i < text.size() && std::string_view("<>^=").find(text[i]) != std::string_view::npos;
  };
  size_t at = 0;
  uint32_t first = 1;
  if (!text.empty()) decode(text, 0, &first);
  if (is_align(first)) {
    spec.fill = text.substr(0, first);
    spec.align = text[first];
    at = first + 1;
  } else if (is_align(0)) {
    spec.align = text[at++];
  }
  if (at < text.size() && std::string_view("+- ").find(text[at]) != std::string_view::npos) spec.sign = text[at++];
  if (at < text.size() && text[at] == '#') spec.alternate = true, ++at;
  if (at < text.size() && text[at] == '0') {
    if (!spec.align) spec.align = '=', spec.fill = "0";
    ++at;
  }
  spec.width = read_number(text, at, kMaxWidth, 0);
  if (at < text.size() && (text[at] == ',' || text[at] == '_')) spec.grouping = text[at++];
  if (at < text.size() && text[at] == '.') spec.precision = static_cast<int>(read_number(text, ++at, kMaxPrecision, 0));
  if (at < text.size()) spec.type = text[at++];
  if (at != text.size() || (spec.type && std::string_view("sdbxXofFeEgGn%").find(spec.type) == std::string_view::npos))
    fail(format("invalid format specification '{}'", text));
  return spec;
}

void append_formatted(Heap& heap, StrBuilder& out, Value value, const FormatSpec& spec) {
  const bool plain_bool = value.is(Kind::kBool) && !spec.type && spec.width == 0;
  if (value.is_number() && !plain_bool) return append_number(heap, out, value, spec);
  if (spec.type && spec.type != 's') fail(format("format code '{}' does not fit a '{}'", spec.type, type_name(value)));
  append_string(heap, out, to_str(heap, value), spec);
}

Value percent_format(Heap& heap, Value pattern, Value value) {
  return Value::str_of(PercentFormatter(heap, pattern.str, value).run(), pattern.markup);
}

Value brace_format(Heap& heap, Value pattern, const Call& call) {
  return Value::str_of(BraceFormatter(heap, pattern.str, call).run(), pattern.markup);
}

}  // namespace camshaft::text::jinja
