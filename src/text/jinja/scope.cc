// Variables: where names are looked up and set.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"

namespace camshaft::text::jinja {

Interpreter::Interpreter(const Program& program, const TemplateLimits& limits, Heap& heap, int64_t now_unix_seconds)
    : program_(program), limits_(limits), heap_(heap), now_unix_seconds_(now_unix_seconds), globals_(program.names.size()) {
  for (size_t i = 0; i < program.names.size(); ++i) {
    const MethodFunction function = find_global(program.names[i]);
    if (!function) continue;
    Value value = Value::of(Kind::kFunction);
    value.function = heap.make<Function>(program.names[i], function, Value());
    globals_[i] = value;
  }
}

void Interpreter::set_global(std::string_view name, Value value) {
  const auto found = program_.name_numbers.find(name);
  if (found != program_.name_numbers.end()) globals_[found->second] = value;
}

const Value* Interpreter::find(uint32_t name) const {
  for (const Scope* scope = scope_; scope; scope = scope->parent) {
    for (uint32_t i = 0; i < scope->size; ++i) {
      if (scope->variables[i].name == name) return &scope->variables[i].value;
    }
  }
  return globals_[name] ? &*globals_[name] : nullptr;
}

void Interpreter::assign(uint32_t name, Value value) {
  if (!scope_) {
    globals_[name] = value;
    return;
  }
  Scope& scope = *scope_;
  Variable* end = scope.variables + scope.size;
  Variable* found = std::find_if(scope.variables, end, [&](const Variable& each) { return each.name == name; });
  if (found != end) {
    found->value = value;
    return;
  }
  if (scope.size == scope.capacity) {
    scope.capacity = std::max(4u, scope.capacity * 2);
    Variable* wider = heap_.array<Variable>(scope.capacity);
    std::copy(scope.variables, end, wider);
    scope.variables = wider;
  }
  scope.variables[scope.size++] = {name, value};
}

Scope* Interpreter::new_scope(Scope* parent) { return heap_.make<Scope>(parent); }

// What is in reach now stays as it is: somebody may come back to it.
void Interpreter::keep_scopes() {
  for (Scope* scope = scope_; scope && !scope->kept; scope = scope->parent) scope->kept = true;
}

Value Interpreter::new_macro(const MacroDef& def) {
  keep_scopes();
  Value macro = Value::of(Kind::kMacro);
  macro.macro = heap_.make<Macro>(&def, scope_);
  return macro;
}

}  // namespace camshaft::text::jinja
