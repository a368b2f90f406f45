// Statements at work.
#include "text/jinja/failure.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"

namespace camshaft::text::jinja {
namespace {

// Puts a scope in front and takes it away again.
class Entered {
 public:
  Entered(Scope*& current, Scope* entered) : current_(current), outer_(current) { current_ = entered; }
  ~Entered() { current_ = outer_; }

 private:
  Scope*& current_;
  Scope* outer_;
};

}  // namespace

// A template may nest `max_depth` levels where it is written; macros and recursive loops multiply that when it runs. Eight
// levels' worth of calls is more than any template uses, and half a megabyte of stack.
Interpreter::Nesting::Nesting(Interpreter& in) : interpreter(in) {
  const uint64_t limit = uint64_t{8} * in.limits_.max_depth;
  if (++in.nesting_ > limit) fail_limit("depth of evaluation", limit, "levels");
}

void Interpreter::run(StrBuilder& out) { exec_body(program_.body, out); }

Interpreter::Flow Interpreter::exec_body(const Body& body, StrBuilder& out) {
  const Nesting nesting(*this);
  for (const Stmt* stmt : body) {
    heap_.step();
    const Flow flow = exec(*stmt, out);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Interpreter::Flow Interpreter::exec(const Stmt& stmt, StrBuilder& out) {
  position_ = stmt.position;
  switch (stmt.kind) {
    case StmtKind::kText: out.append(stmt.text); return Flow::kNext;
    case StmtKind::kOutput: print(eval(*stmt.expr), out); return Flow::kNext;
    case StmtKind::kIf: return exec_if(stmt, out);
    case StmtKind::kFor: exec_for(stmt, out); return Flow::kNext;
    case StmtKind::kSet: bind(stmt.target, eval(*stmt.expr)); return Flow::kNext;
    case StmtKind::kSetBlock: return exec_set_block(stmt);
    case StmtKind::kMacro: assign(stmt.target.name, new_macro(*stmt.macro)); return Flow::kNext;
    case StmtKind::kCallBlock: exec_call_block(stmt, out); return Flow::kNext;
    case StmtKind::kFilterBlock: return exec_filter_block(stmt, out);
    case StmtKind::kWith:
    case StmtKind::kScope: return exec_in_scope(stmt, out);
    case StmtKind::kBreak: return Flow::kBreak;
    case StmtKind::kContinue: return Flow::kContinue;
  }
  return Flow::kNext;
}

void Interpreter::print(Value value, StrBuilder& out) { out.append(to_str(heap_, value)); }

Interpreter::Flow Interpreter::exec_if(const Stmt& stmt, StrBuilder& out) {
  for (const Branch& branch : stmt.branches) {
    if (truth(eval(*branch.condition))) return exec_body(branch.body, out);
  }
  return stmt.otherwise.empty() ? Flow::kNext : exec_body(stmt.otherwise, out);
}

Interpreter::Flow Interpreter::exec_in_scope(const Stmt& stmt, StrBuilder& out) {
  std::vector<Value> values;  // each is computed outside of the new scope
  for (const auto& [target, expr] : stmt.bindings) values.push_back(eval(*expr));
  const Entered entered(scope_, new_scope(scope_));
  for (size_t i = 0; i < values.size(); ++i) bind(stmt.bindings[i].first, values[i]);
  return exec_body(stmt.body, out);
}

void Interpreter::exec_for(const Stmt& stmt, StrBuilder& out) { run_loop(stmt, loop_items(stmt), 0, out); }

std::vector<Value> Interpreter::loop_items(const Stmt& stmt) { return items_of(heap_, eval(*stmt.expr)); }

void Interpreter::run_loop(const Stmt& stmt, const std::vector<Value>& all, uint64_t depth, StrBuilder& out) {
  Scope* const outer = scope_;
  Scope* turn = new_scope(outer);
  std::vector<Value> chosen;
  if (stmt.filter) {
    const Entered entered(scope_, turn);
    for (Value item : all) {
      heap_.step();
      bind(stmt.target, item);
      if (truth(eval(*stmt.filter))) chosen.push_back(item);
    }
  }
  const std::vector<Value>& items = stmt.filter ? chosen : all;
  Value loop = Value::of(Kind::kLoop);
  loop.loop = heap_.make<Loop>(&stmt, outer, items.data(), items.size(), uint64_t{0}, depth, Value(), false);
  for (; loop.loop->index < items.size(); ++loop.loop->index) {
    heap_.step();
    if (turn->kept) turn = new_scope(outer);
    turn->size = 0;
    const Entered entered(scope_, turn);
    bind(stmt.target, items[loop.loop->index]);
    assign(program_.loop_name, loop);
    if (exec_body(stmt.body, out) == Flow::kBreak) break;
  }
  // The object may be remembered beyond the loop: it keeps its numbers, not the items.
  loop.loop->items = nullptr;
  if (!items.empty() || stmt.otherwise.empty()) return;
  const Entered entered(scope_, new_scope(outer));
  exec_body(stmt.otherwise, out);
}

Interpreter::Flow Interpreter::capture(const Stmt& stmt) {
  StrBuilder text(heap_, limits_.max_output_bytes);
  const Entered entered(scope_, new_scope(scope_));
  const Flow flow = exec_body(stmt.body, text);
  captured_ = Value::str_of(text.finish());
  return flow;
}

Interpreter::Flow Interpreter::exec_set_block(const Stmt& stmt) {
  const Flow flow = capture(stmt);
  if (flow == Flow::kNext) bind(stmt.target, stmt.filter ? eval(*stmt.filter) : captured_);
  return flow;
}

Interpreter::Flow Interpreter::exec_filter_block(const Stmt& stmt, StrBuilder& out) {
  const Flow flow = capture(stmt);
  if (flow == Flow::kNext) print(eval(*stmt.expr), out);
  return flow;
}

void Interpreter::exec_call_block(const Stmt& stmt, StrBuilder& out) {
  const Value caller = new_macro(*stmt.macro);
  const Expr& expr = *stmt.expr;
  const Value callee = eval(*expr.a);
  Call call = eval_args(expr.args.get(), "call block");
  call.named.emplace_back("caller", caller);
  position_ = stmt.position;
  print(call_value(callee, call), out);
}

void Interpreter::bind(const Target& target, Value value) {
  if (!target.parts.empty()) return bind_parts(target, value);
  if (!target.attribute) return assign(target.name, value);
  const Value* space = find(target.name);
  if (!space || !space->is(Kind::kNamespace)) {
    position_ = target.position;
    fail(format("'{}' is no namespace object, its attributes cannot be set", program_.names[target.name]));
  }
  dict_set(heap_, space->space->attributes, Value::str_of(target.attribute), value);
}

void Interpreter::bind_parts(const Target& target, Value value) {
  position_ = target.position;
  if (value.is_undefined()) fail_missing(heap_, value);
  const std::vector<Value> items = items_of(heap_, value);
  if (items.size() != target.parts.size()) {
    fail(format("cannot unpack {} values into {} names", items.size(), target.parts.size()));
  }
  for (size_t i = 0; i < items.size(); ++i) bind(target.parts[i], items[i]);
}

}  // namespace camshaft::text::jinja
