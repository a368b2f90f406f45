// Calls: functions, macros, recursive loops, and filters or tests by name.
#include <algorithm>

#include "text/jinja/failure.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"

namespace camshaft::text::jinja {
namespace {

// Counts a call in flight, and leaves the caller's scope as it was.
class CallInFlight {
 public:
  CallInFlight(uint32_t& calls, uint32_t limit, Scope*& scope) : calls_(calls), scope_(scope), outer_(scope) {
    if (++calls_ > limit) fail_limit("depth of macro calls", limit, "calls in each other");
  }
  ~CallInFlight() {
    --calls_;
    scope_ = outer_;
  }

 private:
  uint32_t& calls_;
  Scope*& scope_;
  Scope* outer_;
};

const Value* find_argument(const Call& call, std::string_view name) {
  for (const auto& [each, value] : call.named) {
    if (each == name) return &value;
  }
  return nullptr;
}

}  // namespace

Call Interpreter::eval_args(const CallArgs* args, std::string_view what) {
  Call call{what, {}, {}};
  if (!args) return call;
  for (const Expr* each : args->positional) call.args.push_back(eval(*each));
  for (const auto& [name, each] : args->named) call.named.emplace_back(name, eval(*each));
  if (args->star) {
    for (Value item : items_of(heap_, eval(*args->star))) call.args.push_back(item);
  }
  if (args->double_star) {
    const Value more = eval(*args->double_star);
    if (!more.is(Kind::kDict)) fail(format("argument behind ** must be a mapping, not '{}'", type_name(more)));
    for (const Entry& entry : *more.dict) {
      if (!entry.key.is_string()) fail("keys of a ** argument must be strings");
      call.named.emplace_back(bytes(heap_, entry.key.str), entry.value);
    }
  }
  return call;
}

Value Interpreter::call_value(Value callee, Call& call) {
  heap_.step();
  switch (callee.kind) {
    case Kind::kFunction: call.what = callee.function->name; return callee.function->call(*this, callee.function->self, call);
    case Kind::kMacro: return call_macro(*callee.macro, call);
    case Kind::kLoop: return call_loop(*callee.loop, call);
    case Kind::kUndefined: fail_missing(heap_, callee);
    default: fail(format("'{}' object is not callable", type_name(callee)));
  }
}

Value Interpreter::call_macro(const Macro& macro, const Call& call) {
  const Nesting nesting(*this);
  const CallInFlight in_flight(calls_, limits_.max_depth, scope_);
  scope_ = new_scope(macro.scope);
  bind_parameters(macro, call);
  StrBuilder out(heap_, limits_.max_output_bytes);
  exec_body(macro.def->body, out);
  return Value::str_of(out.finish());
}

// Parameters take positional arguments first, then named ones, then their defaults, which see the parameters before them.
void Interpreter::bind_parameters(const Macro& macro, const Call& call) {
  const MacroDef& def = *macro.def;
  const size_t count = def.parameters.size(), first_default = count - def.defaults.size();
  for (size_t i = 0; i < count; ++i) {
    const std::string_view name = program_.names[def.parameters[i]];
    const Value* named = find_argument(call, name);
    if (named && i < call.args.size()) fail(format("macro '{}' was given its argument '{}' twice", def.name, name));
    Value value;
    if (i < call.args.size())
      value = call.args[i];
    else if (named)
      value = *named;
    else if (i >= first_default)
      value = eval(*def.defaults[i - first_default]);
    else
      value.missing = heap_.make<Missing>(Missing::Reason::kParameter, make_str(heap_, name, Origin::kTemplate));
    assign(def.parameters[i], value);
  }
  bind_surplus(def, call);
}

// What no parameter takes goes to caller, kwargs and varargs, if the macro uses them; else it is an error.
void Interpreter::bind_surplus(const MacroDef& def, const Call& call) {
  const auto is_parameter = [&](std::string_view name) {
    return std::any_of(def.parameters.begin(), def.parameters.end(), [&](uint32_t each) { return program_.names[each] == name; });
  };
  const bool takes_caller = def.uses_caller && !is_parameter("caller");
  if (takes_caller) {
    const Value* caller = find_argument(call, "caller");
    assign(program_.caller_name, caller ? *caller : undefined_because(heap_, "no caller defined: use a call block"));
  }
  Dict* named = heap_.make<Dict>();
  for (const auto& [name, value] : call.named) {
    if (is_parameter(name) || (takes_caller && name == "caller")) continue;
    if (!def.uses_kwargs) fail(format("macro '{}' takes no argument '{}'", def.name, name));
    dict_set(heap_, *named, make_string(heap_, name), value);
  }
  if (def.uses_kwargs) assign(program_.kwargs_name, dict_value(named));
  std::vector<Value> rest;
  for (size_t i = def.parameters.size(); i < call.args.size(); ++i) rest.push_back(call.args[i]);
  if (def.uses_varargs) return assign(program_.varargs_name, make_list(heap_, rest, Kind::kTuple));
  if (!rest.empty()) {
    fail(format("macro '{}' takes at most {} arguments, {} were given", def.name, def.parameters.size(), call.args.size()));
  }
}

Value Interpreter::call_loop(const Loop& loop, const Call& call) {
  if (!loop.stmt->recursive) fail("loop() is only for loops marked 'recursive'");
  const Arguments args(heap_, call, {"items"}, 1);
  const Nesting nesting(*this);
  const CallInFlight in_flight(calls_, limits_.max_depth, scope_);
  scope_ = loop.scope;
  StrBuilder out(heap_, limits_.max_output_bytes);
  run_loop(*loop.stmt, items_of(heap_, args[0]), loop.depth + 1, out);
  return Value::str_of(out.finish());
}

Value Interpreter::apply_filter(const Str* name, Value subject, const Call& call) {
  const Nesting nesting(*this);
  heap_.step();
  const FilterFunction filter = find_filter(bytes(heap_, name));
  if (!filter) fail(format("no filter named '{}' is known", bytes(heap_, name)));
  return filter(*this, subject, call);
}

bool Interpreter::apply_test(const Str* name, Value subject, const Call& call) {
  const Nesting nesting(*this);
  heap_.step();
  const TestFunction test = find_test(bytes(heap_, name));
  if (!test) fail(format("no test named '{}' is known", bytes(heap_, name)));
  return test(*this, subject, call);
}

}  // namespace camshaft::text::jinja
