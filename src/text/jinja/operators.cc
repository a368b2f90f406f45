// Arithmetic with Python's rules: true and floor division, modulo with the divisor's sign, repeated sequences.
#include "text/jinja/operators.h"

#include <algorithm>
#include <cmath>

#include "text/jinja/failure.h"
#include "text/jinja/repr.h"

namespace camshaft::text::jinja {
namespace {

[[noreturn]] void fail_overflow(Op op) {
  fail(format("result of '{}' does not fit 64 bits; templates compute with 64-bit integers", op_text(op)));
}
[[noreturn]] void fail_zero(Op op) { fail(format("division by zero in '{}'", op_text(op))); }
[[noreturn]] void fail_types(Heap& heap, Op op, Value left, Value right) {
  if (left.is_undefined()) fail_missing(heap, left);
  if (right.is_undefined()) fail_missing(heap, right);
  if (left.is(Kind::kBigInt) || right.is(Kind::kBigInt)) fail_overflow(op);
  fail(format("unsupported operand types for {}: '{}' and '{}'", op_text(op), type_name(left), type_name(right)));
}

int64_t int_pow(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) fail_overflow(Op::kPow);
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) fail_overflow(Op::kPow);
  }
  return result;
}

Value int_divide(Op op, int64_t a, int64_t b) {
  if (b == 0) fail_zero(op);
  if (b == -1) {
    int64_t negated = 0;
    if (op == Op::kMod) return Value::int_of(0);
    if (__builtin_sub_overflow(int64_t{0}, a, &negated)) fail_overflow(op);
    return Value::int_of(negated);
  }
  const bool inexact_negative = a % b != 0 && (a < 0) != (b < 0);
  return Value::int_of(op == Op::kMod ? a % b + (inexact_negative ? b : 0) : a / b - inexact_negative);
}

Value float_arithmetic(Op op, double a, double b);

Value int_arithmetic(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Op::kAdd: overflow = __builtin_add_overflow(a, b, &result); break;
    case Op::kSub: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Op::kMul: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Op::kPow:
      if (b < 0) return float_arithmetic(op, static_cast<double>(a), static_cast<double>(b));
      result = int_pow(a, b);
      break;
    case Op::kDiv: return float_arithmetic(op, static_cast<double>(a), static_cast<double>(b));
    default: return int_divide(op, a, b);
  }
  if (overflow) fail_overflow(op);
  return Value::int_of(result);
}

double float_mod(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

Value float_arithmetic(Op op, double a, double b) {
  if ((op == Op::kDiv || op == Op::kFloorDiv || op == Op::kMod) && b == 0) fail_zero(op);
  switch (op) {
    case Op::kAdd: return Value::float_of(a + b);
    case Op::kSub: return Value::float_of(a - b);
    case Op::kMul: return Value::float_of(a * b);
    case Op::kDiv: return Value::float_of(a / b);
    case Op::kFloorDiv: return Value::float_of(std::round((a - float_mod(a, b)) / b));
    case Op::kMod: return Value::float_of(float_mod(a, b));
    default: break;
  }
  if (a == 0 && b < 0) fail_zero(op);
  const double power = std::pow(a, b);
  if (std::isnan(power) && !std::isnan(a) && !std::isnan(b)) fail("a negative number to a broken power has no real result");
  if (std::isinf(power) && !std::isinf(a) && !std::isinf(b)) fail("result of '**' is too large for a float");
  return Value::float_of(power);
}

Value add_strings(Heap& heap, Value left, Value right) {
  const bool markup = left.markup || right.markup;
  if (left.markup && !right.markup) right = escape_html(heap, right.str);
  if (right.markup && !left.markup) left = escape_html(heap, left.str);
  return Value::str_of(concat(heap, left.str, right.str), markup);
}

Value add_lists(Heap& heap, Value left, Value right) {
  heap.require(left.list->size + right.list->size, sizeof(Value));
  std::vector<Value> items(left.list->begin(), left.list->end());
  items.insert(items.end(), right.list->begin(), right.list->end());
  Value sum = make_list(heap, items, left.kind);
  if (left.origin == Origin::kContent || right.origin == Origin::kContent) sum.origin = Origin::kContent;
  return sum;
}

Value add(Heap& heap, Value left, Value right) {
  if (left.is_string() && right.is_string()) return add_strings(heap, left, right);
  if (left.is_sequence() && left.kind == right.kind) return add_lists(heap, left, right);
  fail_types(heap, Op::kAdd, left, right);
}

std::string_view html_entity(char c) {
  switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&#34;";
    default: return "&#39;";
  }
}

}  // namespace

std::string_view op_text(Op op) {
  constexpr std::string_view kTexts[] = {
      "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "-", "+", "not"};
  return kTexts[static_cast<size_t>(op)];
}

Value repeat(Heap& heap, Value sequence, int64_t times) {
  const uint64_t count = static_cast<uint64_t>(std::max<int64_t>(times, 0));
  if (sequence.is_string()) {
    if (sequence.str->size) heap.require(count, sequence.str->size);
    bytes(heap, sequence.str);
    StrBuilder out(heap);
    if (sequence.str->num_runs == 0) {  // one origin: one piece
      std::string text;
      text.reserve(sequence.str->size * count);
      for (uint64_t i = 0; i < count && sequence.str->size; ++i) text += bytes(heap, sequence.str);
      out.append(text, sequence.str->origin);
    } else {
      for (uint64_t i = 0; i < count; ++i) out.append(sequence.str);
    }
    return Value::str_of(out.finish(), sequence.markup);
  }
  if (sequence.list->size) heap.require(count, sequence.list->size * sizeof(Value));
  std::vector<Value> items;
  for (uint64_t i = 0; i < count && sequence.list->size; ++i) {
    heap.scan(sequence.list->size * sizeof(Value));
    items.insert(items.end(), sequence.list->begin(), sequence.list->end());
  }
  Value out = make_list(heap, items, sequence.kind);
  out.origin = sequence.origin;
  return out;
}

Value escape_html(Heap& heap, const Str* text) {
  StrBuilder out(heap);
  for_each_run(heap, text, 0, text->size, [&](std::string_view run, Origin origin) {
    while (!run.empty()) {
      const size_t plain = std::min(run.find_first_of("&<>\"'"), run.size());
      out.append(run.substr(0, plain), origin);
      if (plain < run.size()) out.append(html_entity(run[plain]), origin);
      run.remove_prefix(std::min(plain + 1, run.size()));
    }
  });
  return Value::str_of(out.finish(), true);
}

Value arithmetic(Heap& heap, Op op, Value left, Value right) {
  if (left.is_integer() && right.is_integer()) return int_arithmetic(op, left.as_int(), right.as_int());
  if (left.is_number() && right.is_number()) {
    if (left.is(Kind::kBigInt) || right.is(Kind::kBigInt)) fail_overflow(op);
    return float_arithmetic(op, left.as_double(), right.as_double());
  }
  if (op == Op::kAdd) return add(heap, left, right);
  if (op == Op::kMod && left.is_string()) return percent_format(heap, left, right);
  if (op == Op::kMul && (left.is_string() || left.is_sequence()) && right.is_integer()) return repeat(heap, left, right.as_int());
  if (op == Op::kMul && (right.is_string() || right.is_sequence()) && left.is_integer()) return repeat(heap, right, left.as_int());
  fail_types(heap, op, left, right);
}

Value negate(Heap& heap, Op op, Value value) {
  if (value.is(Kind::kFloat)) return Value::float_of(op == Op::kNeg ? -value.real : value.real);
  if (value.is_integer()) return op == Op::kNeg ? int_arithmetic(Op::kSub, 0, value.as_int()) : Value::int_of(value.as_int());
  if (value.is_undefined()) fail_missing(heap, value);
  fail(format("bad operand type for unary {}: '{}'", op_text(op), type_name(value)));
}

}  // namespace camshaft::text::jinja
