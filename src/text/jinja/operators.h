// What +, ==, < and `in` mean, as Python has them.
#pragma once

#include "text/jinja/value.h"

namespace camshaft::text::jinja {

enum class Op : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kFloorDiv,
  kMod,
  kPow,
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kIn,
  kNotIn,
  kNeg,
  kPos,
  kNot,
};
std::string_view op_text(Op op);

Value arithmetic(Heap& heap, Op op, Value left, Value right);
Value negate(Heap& heap, Op op, Value value);  // kNeg, kPos
bool compare(Heap& heap, Op op, Value left, Value right);
bool equal(Heap& heap, Value left, Value right);
// Fails for kinds without an order.
bool less(Heap& heap, Value left, Value right);
bool contains(Heap& heap, Value container, Value item);

// The text repeated, joined or escaped; used by operators and filters alike.
Value repeat(Heap& heap, Value sequence, int64_t times);
Value escape_html(Heap& heap, const Str* text);

}  // namespace camshaft::text::jinja
