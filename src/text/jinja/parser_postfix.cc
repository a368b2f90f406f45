// What follows a value: attributes, subscripts, calls, filters and tests.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/parser.h"

namespace camshaft::text::jinja {

const Expr* Parser::postfix(const Expr* subject) {
  while (true) {
    if (at_operator("."))
      subject = attribute(subject);
    else if (at_operator("["))
      subject = subscript(subject);
    else if (at_operator("("))
      subject = call(subject);
    else
      return subject;
  }
}

const Expr* Parser::filters(const Expr* subject) {
  while (true) {
    if (skip_operator("|"))
      subject = filter(subject);
    else if (at_name("is"))
      subject = test(subject);
    else if (at_operator("("))  // the result of a filter, called
      subject = call(subject);
    else
      return subject;
  }
}

const Expr* Parser::attribute(const Expr* subject) {
  const Position position = next().position;
  if (now().kind == TokenKind::kInteger) {
    Expr* item = new_expr(ExprKind::kItem, position);
    item->a = subject;
    item->b = number();
    return item;
  }
  Expr* expr = new_expr(ExprKind::kAttribute, position);
  expr->a = subject;
  expr->text = program_.literal(std::string(expect(TokenKind::kName, "an attribute's name").text));
  return expr;
}

const Expr* Parser::subscript(const Expr* subject) {
  const Position position = next().position;
  if (at_operator(":")) return slice(subject, nullptr, position);
  const Expr* key = tuple();
  if (at_operator(":")) return slice(subject, key, position);
  expect_operator("]");
  Expr* expr = new_expr(ExprKind::kItem, position);
  expr->a = subject;
  expr->b = key;
  return expr;
}

// Behind the start, at its colon.
const Expr* Parser::slice(const Expr* subject, const Expr* start, Position position) {
  Expr* expr = new_expr(ExprKind::kSlice, position);
  expr->a = subject;
  expr->items = {start, nullptr, nullptr};
  for (size_t i = 1; i < 3 && skip_operator(":"); ++i) {
    if (!at_operator(":") && !at_operator("]")) expr->items[i] = expression();
  }
  expect_operator("]");
  return expr;
}

std::unique_ptr<CallArgs> Parser::call_args() {
  auto args = std::make_unique<CallArgs>();
  expect_operator("(");
  bool first = true;
  while (!at_operator(")")) {
    if (!std::exchange(first, false)) expect_operator(",");
    if (at_operator(")")) break;
    if (skip_operator("*")) {
      if (args->star || args->double_star) fail_here("at most one '*' argument, before any '**'");
      args->star = expression();
    } else if (skip_operator("**")) {
      if (args->double_star) fail_here("at most one '**' argument");
      args->double_star = expression();
    } else if (now().kind == TokenKind::kName && peek().kind == TokenKind::kOperator && peek().text == "=") {
      if (args->double_star) fail_here("named arguments before '**'");
      const std::string_view name = next().text;
      next();
      args->named.emplace_back(name, expression());
    } else {
      if (args->star || args->double_star || !args->named.empty()) fail_here("positional arguments before named ones");
      args->positional.push_back(expression());
    }
  }
  expect_operator(")");
  return args;
}

const Expr* Parser::call(const Expr* subject) {
  Expr* expr = new_expr(ExprKind::kCall, now().position);
  expr->a = subject;
  expr->args = call_args();
  return expr;
}

std::string Parser::dotted_name() {
  std::string name(expect(TokenKind::kName, "a name").text);
  while (skip_operator(".")) {
    name += '.';
    name += expect(TokenKind::kName, "a name").text;
  }
  return name;
}

const Expr* Parser::filter(const Expr* subject) {
  Expr* expr = new_expr(ExprKind::kFilter, now().position);
  const std::string name = dotted_name();
  expr->a = subject;
  expr->text = program_.literal(name);
  expr->filter = find_filter(name);
  if (!expr->filter) unknown_.push_back(expr);
  if (at_operator("(")) expr->args = call_args();
  return expr;
}

const Expr* Parser::test(const Expr* subject) {
  const Position position = next().position;
  const bool negated = skip_name("not");
  Expr* expr = new_expr(ExprKind::kTest, now().position);
  const std::string name = dotted_name();
  expr->a = subject;
  expr->text = program_.literal(name);
  expr->test = find_test(name);
  if (!expr->test) unknown_.push_back(expr);
  const TokenKind kind = now().kind;
  const bool value_follows = kind == TokenKind::kString || kind == TokenKind::kInteger || kind == TokenKind::kFloat ||
                             at_operator("[") || at_operator("{") ||
                             (kind == TokenKind::kName && !at_name("else") && !at_name("or") && !at_name("and"));
  if (at_operator("(")) {
    expr->args = call_args();
  } else if (value_follows) {
    if (at_name("is")) fail_here("no second 'is': tests cannot be chained");
    expr->args = std::make_unique<CallArgs>();
    const Depth depth(*this);
    expr->args->positional.push_back(postfix(primary()));
  }
  if (!negated) return expr;
  Expr* inverse = new_expr(ExprKind::kUnary, position);
  inverse->op = Op::kNot;
  inverse->a = expr;
  return inverse;
}

}  // namespace camshaft::text::jinja
