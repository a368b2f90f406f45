// Filters that make or change numbers, and default.
#include <charconv>
#include <cmath>

#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_ops.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

// int() and float() of text: white space around, underscores between digits.
std::optional<std::string> plain_digits(Heap& heap, const Str* text) {
  const std::string_view stripped = bytes(heap, strip(heap, text, nullptr, Side::kBoth));
  heap.scan(stripped.size());
  std::string out;
  for (size_t i = 0; i < stripped.size(); ++i) {
    if (stripped[i] != '_') {
      out += stripped[i];
      continue;
    }
    const auto alnum = [&](size_t at) { return at < stripped.size() && std::isalnum(static_cast<unsigned char>(stripped[at])); };
    if (i == 0 || !alnum(i - 1) || !alnum(i + 1)) return std::nullopt;
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::optional<int64_t> parse_int(std::string text, int64_t base) {
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') text.erase(0, 1);
  if (text.empty() || text[0] == '-' || text[0] == '+') return std::nullopt;
  const char kind = text.size() > 1 && text[0] == '0' ? static_cast<char>(text[1] | 0x20) : 0;
  const int64_t prefixed = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 0;
  if (base == 0) base = prefixed ? prefixed : 10;
  if (prefixed == base) text.erase(0, 2);
  if (base < 2 || base > 36) fail("int: the base must be 0 or from 2 to 36");
  uint64_t magnitude = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), magnitude, static_cast<int>(base));
  if (parsed.ptr != text.data() + text.size() || text.empty()) return std::nullopt;
  if (parsed.ec != std::errc() || magnitude > static_cast<uint64_t>(INT64_MAX)) fail("int: the number does not fit 64 bits");
  return negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

std::optional<double> parse_float(const std::string& text) {
  const char* begin = text.data() + (text[0] == '+' && text.size() > 1 && text[1] != '-');
  double value = 0;
  const auto parsed = std::from_chars(begin, text.data() + text.size(), value);
  if (parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (parsed.ec == std::errc::result_out_of_range) return std::fabs(value) > 1 ? value : 0.0;
  return value;
}

std::optional<double> to_float(Heap& heap, Value value) {
  if (value.is_undefined()) fail_missing(heap, value);
  if (value.is_number()) return value.as_double();
  if (!value.is_string()) return std::nullopt;
  const std::optional<std::string> text = plain_digits(heap, value.str);
  return text ? parse_float(*text) : std::nullopt;
}

std::optional<Value> whole_part(double real) {
  if (!std::isfinite(real)) return std::nullopt;
  if (!(std::fabs(real) < 9.2e18)) fail("int: the number does not fit 64 bits");
  return Value::int_of(static_cast<int64_t>(real));
}

Value filter_int(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"default", "base"});
  if (subject.is_integer()) return Value::int_of(subject.as_int());
  if (subject.is(Kind::kBigInt)) return subject;
  if (subject.is_string()) {
    const std::optional<std::string> text = plain_digits(in.heap(), subject.str);
    const std::optional<int64_t> parsed = text ? parse_int(*text, args.integer(1, 10)) : std::nullopt;
    if (parsed) return Value::int_of(*parsed);
  }
  const std::optional<double> real = to_float(in.heap(), subject);
  const std::optional<Value> whole = real ? whole_part(*real) : std::nullopt;
  return whole ? *whole : args.value_or(0, Value::int_of(0));
}

Value filter_float(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"default"});
  const std::optional<double> real = to_float(in.heap(), subject);
  return real ? Value::float_of(*real) : args.value_or(0, Value::float_of(0));
}

Value filter_abs(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  if (subject.is_undefined()) fail_missing(in.heap(), subject);
  if (subject.is(Kind::kFloat)) return Value::float_of(std::fabs(subject.real));
  if (!subject.is_integer()) fail(format("abs needs a number, not '{}'", type_name(subject)));
  return subject.as_int() < 0 ? negate(in.heap(), Op::kNeg, subject) : Value::int_of(subject.as_int());
}

// Ties to even of the exact binary value, as Python rounds.
double round_common(double value, int64_t precision) {
  if (!std::isfinite(value) || precision > 330) return value;
  if (precision >= 0) {
    const std::string text = float_fixed(value, static_cast<int>(precision));
    double rounded = value;
    std::from_chars(text.data(), text.data() + text.size(), rounded);
    return rounded;
  }
  if (precision < -308) return 0.0;
  const double scale = std::pow(10.0, static_cast<double>(-precision));
  return std::nearbyint(value / scale) * scale;
}

Value filter_round(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"precision", "method"});
  const Str common{"common", 6, 6};
  const std::string_view method = bytes(in.heap(), args.string(1, &common));
  const int64_t precision = args.integer(0, 0);
  if (subject.is_undefined()) fail_missing(in.heap(), subject);
  if (!subject.is_number()) fail(format("round needs a number, not '{}'", type_name(subject)));
  if (method == "common") {
    if (subject.is(Kind::kFloat)) return Value::float_of(round_common(subject.real, precision));
    if (precision >= 0) return subject.is(Kind::kBool) ? Value::int_of(subject.as_int()) : subject;
    return *whole_part(round_common(subject.as_double(), precision));
  }
  if (method != "ceil" && method != "floor") fail("round: the method must be common, ceil or floor");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = subject.as_double() * scale;
  return Value::float_of((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value filter_length(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return Value::int_of(static_cast<int64_t>(length_of(in.heap(), subject)));
}

Value filter_default(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"default_value", "boolean"});
  if (!subject.is_undefined() && !(args.boolean(1, false) && !truth(subject))) return subject;
  return args.value_or(0, make_string(in.heap(), ""));
}

constexpr Named<FilterFunction> kFilters[] = {
    {"int", filter_int},       {"float", filter_float},  {"abs", filter_abs},         {"round", filter_round},
    {"length", filter_length}, {"count", filter_length}, {"default", filter_default}, {"d", filter_default},
};

}  // namespace

FilterFunction find_number_filter(std::string_view name) { return find_named(kFilters, name); }

}  // namespace camshaft::text::jinja
