// The parsed template. Nodes live in the Program that owns them; links are plain pointers, so nothing is torn down by recursion.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/operators.h"

namespace camshaft::text::jinja {

class Interpreter;
struct Call;
using FilterFunction = Value (*)(Interpreter&, Value, const Call&);
using TestFunction = bool (*)(Interpreter&, Value, const Call&);

enum class ExprKind : uint8_t {
  kConst,
  kCaptured,  // the text of the block that a filter chain follows
  kName,
  kList,
  kTuple,
  kDict,       // items: key, value, key, value
  kConcat,     // items
  kAnd,        // items
  kOr,         // items
  kCompare,    // a, then one item for each entry of ops
  kUnary,      // op a
  kBinary,     // a op b
  kCond,       // items: condition, then, else (null when left out)
  kAttribute,  // a.text
  kItem,       // a[b]
  kSlice,      // a[items]: start, stop, step, each perhaps null
  kCall,       // a(args)
  kFilter,     // a|text(args)
  kTest,       // a is text(args)
};

struct Expr;
struct CallArgs {
  std::vector<const Expr*> positional;
  std::vector<std::pair<std::string_view, const Expr*>> named;
  const Expr* star = nullptr;         // *expr
  const Expr* double_star = nullptr;  // **expr
};

struct Expr {
  ExprKind kind;
  Op op = Op::kAdd;
  Position position;
  uint32_t name = 0;          // kName: its number
  const Str* text = nullptr;  // names of attributes, filters, tests
  const Expr* a = nullptr;
  const Expr* b = nullptr;
  Value value;  // kConst
  std::vector<const Expr*> items;
  std::vector<Op> ops;
  std::unique_ptr<CallArgs> args;
  FilterFunction filter = nullptr;  // null: unknown, an error when reached
  TestFunction test = nullptr;
};

// What assignment and loops bind: a name, a namespace's attribute, or a tuple of those.
struct Target {
  uint32_t name = 0;
  const Str* attribute = nullptr;
  std::vector<Target> parts;  // not empty: a tuple
  Position position;
};

enum class StmtKind : uint8_t {
  kText,
  kOutput,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kWith,
  kScope,  // {% generation %}
  kBreak,
  kContinue,
};

struct Stmt;
using Body = std::vector<const Stmt*>;

struct Branch {
  const Expr* condition;
  Body body;
};

struct MacroDef {
  std::string_view name;
  std::vector<uint32_t> parameters;
  std::vector<const Expr*> defaults;  // of the last parameters
  Body body;
  bool uses_caller = false, uses_varargs = false, uses_kwargs = false;
};

struct Stmt {
  StmtKind kind;
  Position position;
  const Str* text = nullptr;     // kText
  const Expr* expr = nullptr;    // output, iterable, value, the call, the filter chain over kFilterBlock's text
  const Expr* filter = nullptr;  // kFor: the condition; kSetBlock: the filter chain, or null
  Target target;                 // kFor, kSet, kSetBlock
  Body body;
  Body otherwise;                                        // else of kIf and kFor
  std::vector<Branch> branches;                          // kIf
  std::vector<std::pair<Target, const Expr*>> bindings;  // kWith
  std::unique_ptr<MacroDef> macro;                       // kMacro, kCallBlock
  bool recursive = false;
};

struct Program {
  std::deque<Expr> exprs;
  std::deque<Stmt> stmts;
  std::deque<std::string> strings;
  std::deque<Str> literals;
  std::vector<std::string_view> names;  // by number
  std::unordered_map<std::string_view, uint32_t> name_numbers;
  Body body;
  uint32_t loop_name = 0, caller_name = 0, varargs_name = 0, kwargs_name = 0;

  uint32_t name_number(std::string_view name);
  // A string of the template; its caches are filled, since renderings share it.
  const Str* literal(std::string text);
};

}  // namespace camshaft::text::jinja
