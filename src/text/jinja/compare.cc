// Equality, order and membership.
#include <algorithm>
#include <cmath>

#include "text/jinja/failure.h"
#include "text/jinja/operators.h"

namespace camshaft::text::jinja {
namespace {

// -1, 0, 1; 2 when a NaN makes them unordered. An int and a float compare by value, not after rounding.
int compare_numbers(Value a, Value b) {
  if (a.is_integer() && b.is_integer()) return (a.as_int() > b.as_int()) - (a.as_int() < b.as_int());
  if (a.is(Kind::kBigInt) && b.is(Kind::kBigInt)) return (a.big > b.big) - (a.big < b.big);
  if (a.is(Kind::kBigInt) && b.is_integer()) return 1;
  if (a.is_integer() && b.is(Kind::kBigInt)) return -1;
  const long double x = a.is(Kind::kFloat) ? a.real : a.is(Kind::kBigInt) ? static_cast<long double>(a.big) : a.as_int();
  const long double y = b.is(Kind::kFloat) ? b.real : b.is(Kind::kBigInt) ? static_cast<long double>(b.big) : b.as_int();
  if (std::isnan(x) || std::isnan(y)) return 2;
  return (x > y) - (x < y);
}

bool equal_lists(Heap& heap, const List& a, const List& b) {
  if (a.size != b.size) return false;
  return std::equal(a.begin(), a.end(), b.begin(), [&](Value x, Value y) { return equal(heap, x, y); });
}

bool equal_dicts(Heap& heap, const Dict& a, const Dict& b) {
  if (a.size != b.size) return false;
  return std::all_of(a.begin(), a.end(), [&](const Entry& entry) {
    const Value* other = dict_find(heap, b, entry.key);
    return other && equal(heap, entry.value, *other);
  });
}

bool less_lists(Heap& heap, const List& a, const List& b) {
  for (uint64_t i = 0; i < std::min(a.size, b.size); ++i) {
    heap.node();
    if (!equal(heap, a.items[i], b.items[i])) return less(heap, a.items[i], b.items[i]);
  }
  return a.size < b.size;
}

bool find_text(Heap& heap, const Str* text, Value item) {
  if (!item.is_string()) {
    if (item.is_undefined()) fail_missing(heap, item);
    fail(format("'in' with a string needs a string on its left, not '{}'", type_name(item)));
  }
  heap.scan(text->size + item.str->size);
  return bytes(heap, text).find(bytes(heap, item.str)) != std::string_view::npos;
}

}  // namespace

bool equal(Heap& heap, Value left, Value right) {
  heap.node();
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == 0;
  if (left.kind != right.kind) return false;
  switch (left.kind) {
    case Kind::kUndefined:
    case Kind::kNone: return true;
    case Kind::kString:
      if (left.str->size != right.str->size) return false;
      heap.scan(left.str->size);
      return bytes(heap, left.str) == bytes(heap, right.str);
    case Kind::kList:
    case Kind::kTuple: return equal_lists(heap, *left.list, *right.list);
    case Kind::kDict: return equal_dicts(heap, *left.dict, *right.dict);
    default: return left.integer == right.integer;  // the same object
  }
}

bool less(Heap& heap, Value left, Value right) {
  heap.node();
  if (left.is_number() && right.is_number()) return compare_numbers(left, right) == -1;
  if (left.is_string() && right.is_string()) {
    heap.scan(std::min(left.str->size, right.str->size));
    return bytes(heap, left.str) < bytes(heap, right.str);
  }
  if (left.is_sequence() && left.kind == right.kind) return less_lists(heap, *left.list, *right.list);
  if (left.is_undefined()) fail_missing(heap, left);
  if (right.is_undefined()) fail_missing(heap, right);
  fail(format("'{}' and '{}' have no order", type_name(left), type_name(right)));
}

bool contains(Heap& heap, Value container, Value item) {
  switch (container.kind) {
    case Kind::kString: return find_text(heap, container.str, item);
    case Kind::kDict: return dict_find(heap, *container.dict, item) != nullptr;
    case Kind::kUndefined:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kIterator: {
      const std::vector<Value> items = items_of(heap, container);
      return std::any_of(items.begin(), items.end(), [&](Value each) { return equal(heap, each, item); });
    }
    default: fail(format("'in' cannot search a '{}'", type_name(container)));
  }
}

bool compare(Heap& heap, Op op, Value left, Value right) {
  switch (op) {
    case Op::kEq: return equal(heap, left, right);
    case Op::kNe: return !equal(heap, left, right);
    case Op::kLt: return less(heap, left, right);
    case Op::kGt: return less(heap, right, left);
    case Op::kIn: return contains(heap, right, left);
    case Op::kNotIn: return !contains(heap, right, left);
    default: break;
  }
  const bool at_most = op == Op::kLe;
  const Value low = at_most ? left : right, high = at_most ? right : left;
  if (low.is_number() && high.is_number()) {
    const int order = compare_numbers(low, high);
    return order == -1 || order == 0;
  }
  return !less(heap, high, low);
}

}  // namespace camshaft::text::jinja
