// Statements: text, {{ }} and the {% %} tags.
#include "text/jinja/parser.h"

#include <algorithm>

#include "base/utf8.h"

namespace camshaft::text::jinja {
namespace {

// Known tags that templates of a model have no use for; they would read other files or change how text is escaped.
constexpr std::string_view kRefused[] = {"include",    "import", "from",  "extends", "block",
                                         "autoescape", "do",     "trans", "print",   "debug"};

bool is_reserved(std::string_view name) {
  return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None";
}

}  // namespace

uint32_t Program::name_number(std::string_view name) {
  if (const auto found = name_numbers.find(name); found != name_numbers.end()) return found->second;
  strings.emplace_back(name);
  const auto number = static_cast<uint32_t>(names.size());
  names.push_back(strings.back());
  name_numbers.emplace(names.back(), number);
  return number;
}

const Str* Program::literal(std::string text) {
  strings.push_back(std::move(text));
  const std::string& kept = strings.back();
  Str& literal = literals.emplace_back();
  literal.data = kept.data();
  literal.size = kept.size();
  literal.chars = static_cast<int64_t>(base::count_code_points(kept));
  return &literal;
}

Parser::Depth::Depth(Parser& p) : parser(p) {
  if (++parser.depth_ > parser.max_depth_) {
    Failure failure{base::resource_exhausted(format("template nests deeper than the limit of depth: {} levels", parser.max_depth_)),
                    parser.now().position};
    throw failure;
  }
}

void Parser::parse(std::string_view source) {
  for (const auto& [slot, name] : std::initializer_list<std::pair<uint32_t*, std::string_view>>{{&program_.loop_name, "loop"},
                                                                                                {&program_.caller_name, "caller"},
                                                                                                {&program_.varargs_name, "varargs"},
                                                                                                {&program_.kwargs_name, "kwargs"}})
    *slot = program_.name_number(name);
  program_.strings.push_back(normalize_lines(source));
  tokens_ = tokenize(program_.strings.back());
  program_.body = body_until({});
  if (now().kind != TokenKind::kEnd) fail_at(peek().position, format("unexpected tag '{}'", peek().text));
  if (unknown_.empty()) return;
  const Expr& first = *unknown_.front();
  fail_at(first.position, format("no {} named '{}' is known", first.kind == ExprKind::kFilter ? "filter" : "test",
                                 std::string_view(first.text->data, first.text->size)));
}

Stmt* Parser::new_stmt(StmtKind kind, Position position) {
  Stmt& stmt = program_.stmts.emplace_back();
  stmt.kind = kind;
  stmt.position = position;
  return &stmt;
}

// Statements up to a tag named in `ends`, whose name is then the current token; or the end of the template.
Body Parser::body_until(std::initializer_list<std::string_view> ends) {
  const Depth depth(*this);
  const Position opened = now().position;
  Body body;
  while (true) {
    if (now().kind == TokenKind::kText) {
      Stmt* text = new_stmt(StmtKind::kText, now().position);
      text->text = program_.literal(std::string(next().text));
      body.push_back(text);
    } else if (now().kind == TokenKind::kPrintBegin) {
      body.push_back(print_statement());
    } else if (now().kind == TokenKind::kBlockBegin) {
      if (std::find(ends.begin(), ends.end(), peek().text) != ends.end() && peek().kind == TokenKind::kName) {
        next();
        return body;
      }
      if (ends.size() == 0 && peek().text.starts_with("end")) return body;
      next();
      const Token& tag = expect(TokenKind::kName, "the name of a tag");
      body.push_back(tag_statement(tag));
    } else {
      if (ends.size() > 0) fail_at(opened, format("the block opened here lacks its '{}' tag", *(ends.end() - 1)));
      return body;
    }
  }
}

const Stmt* Parser::print_statement() {
  Stmt* stmt = new_stmt(StmtKind::kOutput, next().position);
  stmt->expr = tuple();
  expect(TokenKind::kPrintEnd, "'}}'");
  return stmt;
}

const Stmt* Parser::tag_statement(const Token& tag) {
  const std::string_view name = tag.text;
  Stmt* stmt = new_stmt(StmtKind::kIf, tag.position);
  if (name == "if")
    parse_if(*stmt);
  else if (name == "for")
    parse_for(*stmt);
  else if (name == "set")
    parse_set(*stmt);
  else if (name == "macro")
    parse_macro(*stmt);
  else if (name == "call")
    parse_call_block(*stmt);
  else if (name == "filter")
    parse_filter_block(*stmt);
  else if (name == "with")
    parse_with(*stmt);
  else if (name == "generation")
    parse_generation(*stmt);
  else if (name == "break")
    parse_jump(*stmt, StmtKind::kBreak);
  else if (name == "continue")
    parse_jump(*stmt, StmtKind::kContinue);
  else if (std::find(std::begin(kRefused), std::end(kRefused), name) != std::end(kRefused))
    fail_at(tag.position, format("tag '{}' is not supported in chat templates", name));
  else
    fail_at(tag.position, format("unknown tag '{}'", name));
  expect(TokenKind::kBlockEnd, "'%}'");
  return stmt;
}

void Parser::parse_if(Stmt& stmt) {
  stmt.kind = StmtKind::kIf;
  const size_t known = unknown_.size();
  while (true) {
    Branch branch{tuple(Cond::kNot), {}};
    expect(TokenKind::kBlockEnd, "'%}'");
    branch.body = body_until({"elif", "else", "endif"});
    stmt.branches.push_back(std::move(branch));
    if (!skip_name("elif")) break;
  }
  if (skip_name("else")) {
    expect(TokenKind::kBlockEnd, "'%}'");
    stmt.otherwise = body_until({"endif"});
  }
  expect_name("endif");
  unknown_.resize(known);
}

void Parser::parse_for(Stmt& stmt) {
  stmt.kind = StmtKind::kFor;
  stmt.target = target();
  expect_name("in");
  stmt.expr = tuple(Cond::kNot);
  if (skip_name("if")) stmt.filter = expression();
  stmt.recursive = skip_name("recursive");
  expect(TokenKind::kBlockEnd, "'%}'");
  ++loops_;
  stmt.body = body_until({"else", "endfor"});
  --loops_;
  if (skip_name("else")) {
    expect(TokenKind::kBlockEnd, "'%}'");
    stmt.otherwise = body_until({"endfor"});
  }
  expect_name("endfor");
}

Target Parser::one_target() {
  Target target;
  target.position = now().position;
  if (skip_operator("(")) {
    target = this->target();
    expect_operator(")");
    return target;
  }
  const Token& name = expect(TokenKind::kName, "a name to assign to");
  if (is_reserved(name.text)) fail_at(name.position, format("cannot assign to '{}'", name.text));
  target.name = program_.name_number(name.text);
  if (skip_operator(".")) target.attribute = program_.literal(std::string(expect(TokenKind::kName, "an attribute's name").text));
  return target;
}

Target Parser::target() {
  const Depth depth(*this);
  Target first = one_target();
  if (!at_operator(",")) return first;
  Target tuple;
  tuple.position = first.position;
  tuple.parts.push_back(std::move(first));
  while (skip_operator(",")) {
    if (now().kind != TokenKind::kName && !at_operator("(")) break;
    if (at_name("in")) break;
    tuple.parts.push_back(one_target());
  }
  return tuple;
}

void Parser::parse_set(Stmt& stmt) {
  stmt.kind = StmtKind::kSet;
  stmt.target = target();
  if (skip_operator("=")) {
    stmt.expr = tuple();
    return;
  }
  stmt.kind = StmtKind::kSetBlock;
  const Expr* body = new_expr(ExprKind::kCaptured, stmt.position);
  const Expr* chain = filters(body);
  stmt.filter = chain == body ? nullptr : chain;
  expect(TokenKind::kBlockEnd, "'%}'");
  stmt.body = body_until({"endset"});
  expect_name("endset");
}

void Parser::parse_signature(MacroDef& macro) {
  expect_operator("(");
  while (!at_operator(")")) {
    if (!macro.parameters.empty()) expect_operator(",");
    if (at_operator(")")) break;
    const Token& name = expect(TokenKind::kName, "a parameter's name");
    if (is_reserved(name.text)) fail_at(name.position, format("a parameter cannot be called '{}'", name.text));
    macro.parameters.push_back(program_.name_number(name.text));
    if (skip_operator("="))
      macro.defaults.push_back(expression());
    else if (!macro.defaults.empty())
      fail_at(name.position, format("parameter '{}' without a default stands behind one with a default", name.text));
  }
  expect_operator(")");
}

void Parser::macro_body(MacroDef& macro, std::string_view end) {
  expect(TokenKind::kBlockEnd, "'%}'");
  macros_.push_back(&macro);
  const uint32_t outer_loops = std::exchange(loops_, 0);
  macro.body = body_until({end});
  expect_name(end);
  loops_ = outer_loops;
  macros_.pop_back();
}

void Parser::parse_macro(Stmt& stmt) {
  stmt.kind = StmtKind::kMacro;
  stmt.macro = std::make_unique<MacroDef>();
  const Token& name = expect(TokenKind::kName, "the macro's name");
  stmt.target.name = program_.name_number(name.text);
  stmt.macro->name = program_.names[stmt.target.name];
  parse_signature(*stmt.macro);
  macro_body(*stmt.macro, "endmacro");
}

void Parser::parse_call_block(Stmt& stmt) {
  stmt.kind = StmtKind::kCallBlock;
  stmt.macro = std::make_unique<MacroDef>();
  stmt.macro->name = "caller";
  if (at_operator("(")) parse_signature(*stmt.macro);
  const Position position = now().position;
  stmt.expr = postfix(primary());
  if (stmt.expr->kind != ExprKind::kCall) fail_at(position, "a call block needs a call, as in {% call macro() %}");
  macro_body(*stmt.macro, "endcall");
}

void Parser::parse_filter_block(Stmt& stmt) {
  stmt.kind = StmtKind::kFilterBlock;
  const Expr* body = new_expr(ExprKind::kCaptured, stmt.position);
  stmt.expr = filters(filter(body));
  expect(TokenKind::kBlockEnd, "'%}'");
  stmt.body = body_until({"endfilter"});
  expect_name("endfilter");
}

void Parser::parse_with(Stmt& stmt) {
  stmt.kind = StmtKind::kWith;
  while (now().kind != TokenKind::kBlockEnd) {
    if (!stmt.bindings.empty()) expect_operator(",");
    Target bound = one_target();
    expect_operator("=");
    stmt.bindings.emplace_back(std::move(bound), expression());
  }
  expect(TokenKind::kBlockEnd, "'%}'");
  stmt.body = body_until({"endwith"});
  expect_name("endwith");
}

// The generation tag marks what the model is to learn; for prompts it only opens a scope.
void Parser::parse_generation(Stmt& stmt) {
  stmt.kind = StmtKind::kScope;
  expect(TokenKind::kBlockEnd, "'%}'");
  const uint32_t outer_loops = std::exchange(loops_, 0);
  stmt.body = body_until({"endgeneration"});
  loops_ = outer_loops;
  expect_name("endgeneration");
}

void Parser::parse_jump(Stmt& stmt, StmtKind kind) {
  stmt.kind = kind;
  if (loops_ == 0) fail_at(stmt.position, "'break' and 'continue' belong inside a loop");
}

bool Parser::skip_operator(std::string_view text) { return at_operator(text) && (next(), true); }
bool Parser::skip_name(std::string_view text) { return at_name(text) && (next(), true); }
void Parser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) fail_here(format("'{}'", text));
}
void Parser::expect_name(std::string_view text) {
  if (!skip_name(text)) fail_here(format("'{}'", text));
}
const Token& Parser::expect(TokenKind kind, std::string_view what) {
  if (now().kind != kind) fail_here(what);
  return next();
}
void Parser::fail_here(std::string_view expected) const {
  const bool at_end = now().kind == TokenKind::kEnd;
  fail_at(now().position,
          format("expected {}, found {}", expected, at_end ? "the end of the template" : format("'{}'", now().text)));
}

}  // namespace camshaft::text::jinja
