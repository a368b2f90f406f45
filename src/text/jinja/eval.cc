// Expressions at work.
#include "text/jinja/access.h"
#include "text/jinja/failure.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"

namespace camshaft::text::jinja {
namespace {

// Kinds whose left operand stands in `a`: a.b.c|d + e is as deep as it is long, and is walked in a loop.
bool has_left_operand(ExprKind kind) {
  switch (kind) {
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kAttribute:
    case ExprKind::kItem:
    case ExprKind::kSlice:
    case ExprKind::kCall:
    case ExprKind::kFilter:
    case ExprKind::kTest: return true;
    default: return false;
  }
}

}  // namespace

Value Interpreter::eval(const Expr& expr) {
  const Nesting nesting(*this);
  const size_t base = spine_.size();
  const Expr* leaf = &expr;
  for (; has_left_operand(leaf->kind); leaf = leaf->a) spine_.push_back(leaf);
  Value value = eval_leaf(*leaf);
  while (spine_.size() > base) {
    const Expr* step = spine_.back();
    spine_.pop_back();
    value = eval_step(*step, value);
  }
  return value;
}

Value Interpreter::eval_leaf(const Expr& expr) {
  heap_.node();
  position_ = expr.position;
  switch (expr.kind) {
    case ExprKind::kConst: return expr.value;
    case ExprKind::kCaptured: return captured_;
    case ExprKind::kName: {
      const Value* value = find(expr.name);
      return value ? *value : undefined_name(heap_, program_.names[expr.name]);
    }
    case ExprKind::kList: return eval_list(expr, Kind::kList);
    case ExprKind::kTuple: return eval_list(expr, Kind::kTuple);
    case ExprKind::kDict: return eval_dict(expr);
    case ExprKind::kConcat: return eval_concat(expr);
    case ExprKind::kCompare: return eval_compare(expr);
    default: return eval_choice(expr);
  }
}

// `subject` is what the left operand gave.
Value Interpreter::eval_step(const Expr& expr, Value subject) {
  heap_.node();
  switch (expr.kind) {
    case ExprKind::kUnary:
      position_ = expr.position;
      return expr.op == Op::kNot ? Value::boolean_of(!truth(subject)) : negate(heap_, expr.op, subject);
    case ExprKind::kBinary: {
      const Value right = eval(*expr.b);
      position_ = expr.position;
      return arithmetic(heap_, expr.op, subject, right);
    }
    case ExprKind::kAttribute: position_ = expr.position; return get_attribute(heap_, subject, expr.text);
    case ExprKind::kItem: {
      const Value key = eval(*expr.b);
      position_ = expr.position;
      return get_item(heap_, subject, key);
    }
    case ExprKind::kSlice: return eval_slice(expr, subject);
    default: break;
  }
  const std::string_view name = expr.text ? std::string_view(expr.text->data, expr.text->size) : "call";
  Call call = eval_args(expr.args.get(), name);
  position_ = expr.position;
  if (expr.kind == ExprKind::kCall) return call_value(subject, call);
  if (expr.kind == ExprKind::kTest) {
    if (!expr.test) fail(format("no test named '{}' is known", name));
    return Value::boolean_of(expr.test(*this, subject, call));
  }
  heap_.step();
  if (!expr.filter) fail(format("no filter named '{}' is known", name));
  return expr.filter(*this, subject, call);
}

Value Interpreter::eval_list(const Expr& expr, Kind kind) {
  std::vector<Value> items;
  items.reserve(expr.items.size());
  for (const Expr* item : expr.items) items.push_back(eval(*item));
  return make_list(heap_, items, kind);
}

Value Interpreter::eval_dict(const Expr& expr) {
  Dict* dict = heap_.make<Dict>();
  for (size_t i = 0; i + 1 < expr.items.size(); i += 2) {
    const Value key = eval(*expr.items[i]);
    dict_set(heap_, *dict, key, eval(*expr.items[i + 1]));
  }
  return dict_value(dict);
}

Value Interpreter::eval_concat(const Expr& expr) {
  const Str* text = make_str(heap_, {}, Origin::kTemplate);
  for (const Expr* item : expr.items) text = concat(heap_, text, to_str(heap_, eval(*item)));
  return Value::str_of(text);
}

// and, or, if-else: each gives one of its operands.
Value Interpreter::eval_choice(const Expr& expr) {
  if (expr.kind != ExprKind::kCond) {
    const bool stop = expr.kind == ExprKind::kOr;
    Value value;
    for (const Expr* item : expr.items) {
      value = eval(*item);
      if (truth(value) == stop) break;
    }
    return value;
  }
  const Expr* choice = &expr;
  while (choice && choice->kind == ExprKind::kCond) {
    heap_.node();
    choice = truth(eval(*choice->items[0])) ? choice->items[1] : choice->items[2];
  }
  if (choice) return eval(*choice);
  return undefined_because(heap_, "the inline if-expression's condition is false and it has no else");
}

Value Interpreter::eval_compare(const Expr& expr) {
  Value left = eval(*expr.a);
  for (size_t i = 0; i < expr.ops.size(); ++i) {
    const Value right = eval(*expr.items[i]);
    position_ = expr.position;
    if (!compare(heap_, expr.ops[i], left, right)) return Value::boolean_of(false);
    left = right;
  }
  return Value::boolean_of(true);
}

Value Interpreter::eval_slice(const Expr& expr, Value subject) {
  Value bounds[3];
  for (size_t i = 0; i < 3; ++i) bounds[i] = expr.items[i] ? eval(*expr.items[i]) : Value::none();
  position_ = expr.position;
  return get_slice(heap_, subject, bounds[0], bounds[1], bounds[2]);
}

}  // namespace camshaft::text::jinja
