// Expressions, in Jinja's order of precedence: if-else, or, and, not, comparisons, + -, ~, * / // %, **, unary, postfix, filters.
#include <algorithm>
#include <charconv>

#include "text/jinja/filters.h"
#include "text/jinja/parser.h"

namespace camshaft::text::jinja {

Expr* Parser::new_expr(ExprKind kind, Position position) {
  Expr& expr = program_.exprs.emplace_back();
  expr.kind = kind;
  expr.position = position;
  return &expr;
}

const Expr* Parser::constant(Value value, Position position) {
  Expr* expr = new_expr(ExprKind::kConst, position);
  expr->value = value;
  return expr;
}

const Expr* Parser::binary(Op op, const Expr* a, const Expr* b, Position position) {
  Expr* expr = new_expr(ExprKind::kBinary, position);
  expr->op = op;
  expr->a = a;
  expr->b = b;
  return expr;
}

const Expr* Parser::expression(Cond cond) {
  const Depth depth(*this);
  if (cond == Cond::kNot) return or_expr();
  const size_t known = unknown_.size();
  const Expr* result = or_expr();
  while (at_name("if")) {
    Expr* choice = new_expr(ExprKind::kCond, next().position);
    const Expr* condition = or_expr();
    const Expr* otherwise = skip_name("else") ? expression() : nullptr;
    choice->items = {condition, result, otherwise};
    result = choice;
    unknown_.resize(known);
  }
  return result;
}

const Expr* Parser::chain(ExprKind kind, Operand operand, Skip skip, std::string_view separator) {
  const Expr* first = (this->*operand)();
  const Position position = now().position;
  if (!(this->*skip)(separator)) return first;
  Expr* expr = new_expr(kind, position);
  expr->items.push_back(first);
  do expr->items.push_back((this->*operand)());
  while ((this->*skip)(separator));
  return expr;
}

const Expr* Parser::or_expr() { return chain(ExprKind::kOr, &Parser::and_expr, &Parser::skip_name, "or"); }
const Expr* Parser::and_expr() { return chain(ExprKind::kAnd, &Parser::not_expr, &Parser::skip_name, "and"); }
const Expr* Parser::concatenation() { return chain(ExprKind::kConcat, &Parser::product, &Parser::skip_operator, "~"); }

const Expr* Parser::not_expr() {
  if (!at_name("not")) return comparison();
  const Depth depth(*this);
  Expr* expr = new_expr(ExprKind::kUnary, next().position);
  expr->op = Op::kNot;
  expr->a = not_expr();
  return expr;
}

const Expr* Parser::comparison() {
  static constexpr std::pair<std::string_view, Op> kOperators[] = {{"==", Op::kEq}, {"!=", Op::kNe}, {"<", Op::kLt},
                                                                   {"<=", Op::kLe}, {">", Op::kGt},  {">=", Op::kGe}};
  const Expr* first = sum();
  Expr* expr = nullptr;
  while (true) {
    const Position position = now().position;
    const auto found =
        std::find_if(std::begin(kOperators), std::end(kOperators), [&](const auto& each) { return at_operator(each.first); });
    Op op = Op::kIn;
    if (found != std::end(kOperators)) {
      op = found->second;
    } else if (at_name("not") && peek().kind == TokenKind::kName && peek().text == "in") {
      next();
      op = Op::kNotIn;
    } else if (!at_name("in")) {
      return expr ? expr : first;
    }
    next();
    if (!expr) {
      expr = new_expr(ExprKind::kCompare, position);
      expr->a = first;
    }
    expr->items.push_back(sum());
    expr->ops.push_back(op);
  }
}

const Expr* Parser::sum() {
  const Expr* left = concatenation();
  while (at_operator("+") || at_operator("-")) {
    const Token& token = next();
    left = binary(token.text == "+" ? Op::kAdd : Op::kSub, left, concatenation(), token.position);
  }
  return left;
}

const Expr* Parser::product() {
  const Expr* left = power();
  while (at_operator("*") || at_operator("/") || at_operator("//") || at_operator("%")) {
    const Token& token = next();
    const Op op = token.text == "*" ? Op::kMul : token.text == "/" ? Op::kDiv : token.text == "//" ? Op::kFloorDiv : Op::kMod;
    left = binary(op, left, power(), token.position);
  }
  return left;
}

const Expr* Parser::power() {
  const Expr* left = unary(Filters::kFollow);
  while (at_operator("**")) {
    const Position position = next().position;
    left = binary(Op::kPow, left, unary(Filters::kFollow), position);
  }
  return left;
}

const Expr* Parser::unary(Filters follow) {
  const Expr* result = nullptr;
  if (at_operator("-") || at_operator("+")) {
    const Depth depth(*this);
    Expr* expr = new_expr(ExprKind::kUnary, now().position);
    expr->op = next().text == "-" ? Op::kNeg : Op::kPos;
    expr->a = unary(Filters::kNot);
    result = expr;
  } else {
    result = primary();
  }
  result = postfix(result);
  return follow == Filters::kFollow ? filters(result) : result;
}

const Expr* Parser::primary() {
  switch (now().kind) {
    case TokenKind::kName: return name_or_constant();
    case TokenKind::kString: return string();
    case TokenKind::kInteger:
    case TokenKind::kFloat: return number();
    default: break;
  }
  if (at_operator("(")) return parenthesised();
  if (at_operator("[")) return list();
  if (at_operator("{")) return dict();
  fail_here("a value");
}

const Expr* Parser::name_or_constant() {
  const Token& token = next();
  if (token.text == "true" || token.text == "True") return constant(Value::boolean_of(true), token.position);
  if (token.text == "false" || token.text == "False") return constant(Value::boolean_of(false), token.position);
  if (token.text == "none" || token.text == "None") return constant(Value::none(), token.position);
  Expr* expr = new_expr(ExprKind::kName, token.position);
  expr->name = program_.name_number(token.text);
  for (MacroDef* macro : macros_) {
    macro->uses_caller |= expr->name == program_.caller_name;
    macro->uses_varargs |= expr->name == program_.varargs_name;
    macro->uses_kwargs |= expr->name == program_.kwargs_name;
  }
  return expr;
}

const Expr* Parser::number() {
  const Token& token = next();
  std::string digits(token.text);
  digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
  const char* begin = digits.data();
  const char* end = begin + digits.size();
  if (token.kind == TokenKind::kFloat) {
    double real = 0;
    const auto parsed = std::from_chars(begin, end, real);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      fail_at(token.position, format("number '{}' is out of a float's range", token.text));
    return constant(Value::float_of(real), token.position);
  }
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    if (base != 10) begin += 2;
  }
  int64_t integer = 0;
  const auto parsed = std::from_chars(begin, end, integer, base);
  if (parsed.ec != std::errc() || parsed.ptr != end)
    fail_at(token.position, format("number '{}' does not fit 64 bits", token.text));
  return constant(Value::int_of(integer), token.position);
}

const Expr* Parser::string() {
  const Position position = now().position;
  std::string text;
  while (now().kind == TokenKind::kString) text += unescape(next());
  return constant(Value::str_of(program_.literal(std::move(text))), position);
}

bool Parser::tuple_ends() const {
  const TokenKind kind = now().kind;
  return kind == TokenKind::kPrintEnd || kind == TokenKind::kBlockEnd || kind == TokenKind::kEnd || at_operator(")");
}

// One expression, or several with commas: a tuple.
const Expr* Parser::tuple(Cond cond) {
  const Position position = now().position;
  const Expr* first = expression(cond);
  if (!at_operator(",")) return first;
  Expr* expr = new_expr(ExprKind::kTuple, position);
  expr->items.push_back(first);
  while (skip_operator(",")) {
    if (tuple_ends() || (cond == Cond::kNot && at_name("recursive"))) break;
    expr->items.push_back(expression(cond));
  }
  return expr;
}

const Expr* Parser::parenthesised() {
  const Position position = next().position;
  if (skip_operator(")")) return new_expr(ExprKind::kTuple, position);
  const Expr* inner = tuple();
  expect_operator(")");
  return inner;
}

const Expr* Parser::list() {
  Expr* expr = new_expr(ExprKind::kList, next().position);
  while (!at_operator("]")) {
    if (!expr->items.empty()) expect_operator(",");
    if (at_operator("]")) break;
    expr->items.push_back(expression());
  }
  expect_operator("]");
  return expr;
}

const Expr* Parser::dict() {
  Expr* expr = new_expr(ExprKind::kDict, next().position);
  while (!at_operator("}")) {
    if (!expr->items.empty()) expect_operator(",");
    if (at_operator("}")) break;
    expr->items.push_back(expression());
    expect_operator(":");
    expr->items.push_back(expression());
  }
  expect_operator("}");
  return expr;
}

}  // namespace camshaft::text::jinja
