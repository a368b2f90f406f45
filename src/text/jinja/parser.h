// Parser: tokens to the tree of ast.h, by recursive descent with an explicit depth.
#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace camshaft::text::jinja {

class Parser {
 public:
  Parser(Program& program, uint32_t max_depth) : program_(program), max_depth_(max_depth) {}
  // Throws Failure with a position.
  void parse(std::string_view source);

 private:
  // parser_stmt.cc
  Body body_until(std::initializer_list<std::string_view> ends);
  const Stmt* tag_statement(const Token& tag);
  const Stmt* print_statement();
  void parse_if(Stmt& stmt);
  void parse_for(Stmt& stmt);
  void parse_set(Stmt& stmt);
  void parse_macro(Stmt& stmt);
  void parse_call_block(Stmt& stmt);
  void parse_filter_block(Stmt& stmt);
  void parse_with(Stmt& stmt);
  void parse_generation(Stmt& stmt);
  void parse_jump(Stmt& stmt, StmtKind kind);
  void parse_signature(MacroDef& macro);
  void macro_body(MacroDef& macro, std::string_view end);
  Target target();
  Target one_target();
  Stmt* new_stmt(StmtKind kind, Position position);

  // parser_expr.cc
  enum class Cond : uint8_t { kAllowed, kNot };  // `a if b else c`
  const Expr* expression(Cond cond = Cond::kAllowed);
  const Expr* tuple(Cond cond = Cond::kAllowed);
  // operand (separator operand)...; where there is no separator, the operand itself.
  using Operand = const Expr* (Parser::*)();
  using Skip = bool (Parser::*)(std::string_view text);
  const Expr* chain(ExprKind kind, Operand operand, Skip skip, std::string_view separator);
  const Expr* or_expr();
  const Expr* and_expr();
  const Expr* not_expr();
  const Expr* comparison();
  const Expr* sum();
  const Expr* concatenation();
  const Expr* product();
  const Expr* power();
  enum class Filters : uint8_t { kFollow, kNot };
  const Expr* unary(Filters filters);
  const Expr* primary();
  const Expr* name_or_constant();
  const Expr* number();
  const Expr* string();
  const Expr* parenthesised();
  const Expr* list();
  const Expr* dict();
  const Expr* postfix(const Expr* subject);
  const Expr* filters(const Expr* subject);
  const Expr* attribute(const Expr* subject);
  const Expr* subscript(const Expr* subject);
  const Expr* slice(const Expr* subject, const Expr* start, Position position);
  const Expr* call(const Expr* subject);
  const Expr* filter(const Expr* subject);
  const Expr* test(const Expr* subject);
  std::unique_ptr<CallArgs> call_args();
  std::string dotted_name();
  bool tuple_ends() const;
  Expr* new_expr(ExprKind kind, Position position);
  const Expr* constant(Value value, Position position);
  const Expr* binary(Op op, const Expr* a, const Expr* b, Position position);

  const Token& now() const { return tokens_[at_]; }
  const Token& next() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  const Token& peek() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool at_operator(std::string_view text) const { return now().kind == TokenKind::kOperator && now().text == text; }
  bool at_name(std::string_view text) const { return now().kind == TokenKind::kName && now().text == text; }
  bool skip_operator(std::string_view text);
  bool skip_name(std::string_view text);
  void expect_operator(std::string_view text);
  void expect_name(std::string_view text);
  const Token& expect(TokenKind kind, std::string_view what);
  [[noreturn]] void fail_here(std::string_view expected) const;

  struct Depth {  // one level of nesting, in a scope
    explicit Depth(Parser& parser);
    ~Depth() { --parser.depth_; }
    Parser& parser;
  };

  Program& program_;
  uint32_t max_depth_;
  uint32_t depth_ = 0;
  uint32_t loops_ = 0;                // around this place, within the same macro
  std::vector<const Expr*> unknown_;  // filters and tests without a meaning; below a condition they fail only when reached
  std::vector<MacroDef*> macros_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace camshaft::text::jinja
