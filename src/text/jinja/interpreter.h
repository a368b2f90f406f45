// Interpreter: one rendering of a parsed template. Used by one thread; the Program it reads is shared.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/chat_template.h"
#include "text/jinja/arguments.h"
#include "text/jinja/ast.h"

namespace camshaft::text::jinja {

struct Variable {
  uint32_t name = 0;
  Value value;
};

// Variables of a loop's turn, a macro call, a with block. The outermost ones are in Interpreter::globals_.
struct Scope {
  Scope* parent = nullptr;
  Variable* variables = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;
  bool kept = false;  // a macro or a recursive loop refers to it
};

struct Macro {
  const MacroDef* def;
  Scope* scope;
};
struct Function {
  std::string_view name;
  Value (*call)(Interpreter&, Value self, const Call&);
  Value self;
};
struct Loop {
  const Stmt* stmt;
  Scope* scope;  // around the loop
  const Value* items;
  uint64_t count;
  uint64_t index;
  uint64_t depth;  // of recursion, from 0
  Value last_changed;
  bool has_changed;
};

class Interpreter {
 public:
  Interpreter(const Program& program, const TemplateLimits& limits, Heap& heap, int64_t now_unix_seconds);

  // Sets a variable of the template's outermost scope, if the template knows its name.
  void set_global(std::string_view name, Value value);
  bool wants(std::string_view name) const { return program_.name_numbers.contains(name); }
  void run(StrBuilder& out);
  // The place last worked at, for errors.
  Position position() const { return position_; }

  Heap& heap() { return heap_; }
  const TemplateLimits& limits() const { return limits_; }
  int64_t now_unix_seconds() const { return now_unix_seconds_; }
  Value call_value(Value callee, Call& call);
  // A filter or test by name, as map() and select() take them.
  Value apply_filter(const Str* name, Value subject, const Call& call);
  bool apply_test(const Str* name, Value subject, const Call& call);

 private:
  enum class Flow : uint8_t { kNext, kBreak, kContinue };
  // exec.cc
  Flow exec_body(const Body& body, StrBuilder& out);
  Flow exec(const Stmt& stmt, StrBuilder& out);
  Flow exec_if(const Stmt& stmt, StrBuilder& out);
  Flow exec_in_scope(const Stmt& stmt, StrBuilder& out);
  void exec_for(const Stmt& stmt, StrBuilder& out);
  void run_loop(const Stmt& stmt, const std::vector<Value>& items, uint64_t depth, StrBuilder& out);
  std::vector<Value> loop_items(const Stmt& stmt);
  Flow capture(const Stmt& stmt);  // into captured_
  Flow exec_set_block(const Stmt& stmt);
  Flow exec_filter_block(const Stmt& stmt, StrBuilder& out);
  void exec_call_block(const Stmt& stmt, StrBuilder& out);
  void exec_with(const Stmt& stmt);
  void print(Value value, StrBuilder& out);
  void bind(const Target& target, Value value);
  void bind_parts(const Target& target, Value value);

  // scope.cc
  const Value* find(uint32_t name) const;
  void assign(uint32_t name, Value value);
  Scope* new_scope(Scope* parent);
  void keep_scopes();
  Value new_macro(const MacroDef& def);

  // eval.cc
  Value eval(const Expr& expr);
  Value eval_leaf(const Expr& expr);
  Value eval_step(const Expr& expr, Value subject);
  Value eval_list(const Expr& expr, Kind kind);
  Value eval_dict(const Expr& expr);
  Value eval_concat(const Expr& expr);
  Value eval_choice(const Expr& expr);
  Value eval_compare(const Expr& expr);
  Value eval_slice(const Expr& expr, Value subject);
  // call.cc
  Call eval_args(const CallArgs* args, std::string_view what);
  Value call_macro(const Macro& macro, const Call& call);
  void bind_parameters(const Macro& macro, const Call& call);
  void bind_surplus(const MacroDef& def, const Call& call);
  Value call_loop(const Loop& loop, const Call& call);

  struct Nesting {  // one level of evaluation, in a scope
    explicit Nesting(Interpreter& interpreter);
    ~Nesting() { --interpreter.nesting_; }
    Interpreter& interpreter;
  };

  const Program& program_;
  const TemplateLimits& limits_;
  Heap& heap_;
  int64_t now_unix_seconds_;
  std::vector<std::optional<Value>> globals_;  // by name number
  Scope* scope_ = nullptr;                     // null: the outermost
  Value captured_;
  std::vector<const Expr*> spine_;  // what eval() has still to apply; shared by all its levels
  uint32_t nesting_ = 0;
  uint32_t calls_ = 0;
  Position position_;
};

}  // namespace camshaft::text::jinja
