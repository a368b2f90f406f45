// The lexer follows Jinja's rules: text until the next {{ {% {#, then tokens until the matching end, brackets balanced.
#include "text/jinja/lexer.h"

#include <algorithm>

#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<uint8_t>(c) >= 0x80;
}
bool is_digit_char(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) { return is_name_start(c) || is_digit_char(c); }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}
  std::vector<Token> run();

 private:
  bool starts(std::string_view text, size_t at) const { return source_.substr(std::min(at, source_.size()), text.size()) == text; }
  bool starts(std::string_view text) const { return starts(text, at_); }
  size_t skip_space(size_t at) const;
  Position position(size_t at);
  void push(TokenKind kind, size_t begin, size_t end) {
    tokens_.push_back({kind, source_.substr(begin, end - begin), position(begin)});
  }
  void text_until(size_t begin, size_t end, size_t tag, bool may_lstrip);
  void open_tag(size_t begin, size_t tag);
  void comment(size_t tag);
  bool raw(size_t tag);
  void block_end(size_t end);
  size_t after_sign_end(size_t at, std::string_view close, bool trims_newline) const;
  void code(TokenKind end_kind, std::string_view close, bool trims_newline, size_t tag);
  void one_token();
  void number();
  void string();
  void operator_token();

  std::string_view source_;
  size_t at_ = 0;
  bool line_start_ = true;  // the last thing consumed ended its line
  std::string brackets_;
  std::vector<Token> tokens_;
  size_t line_at_ = 0, line_begin_ = 0;  // position() moves forward only
  uint32_t line_ = 1;
};

Position Lexer::position(size_t at) {
  if (at < line_at_) line_at_ = line_begin_ = 0, line_ = 1;
  for (; line_at_ < at; ++line_at_) {
    if (source_[line_at_] == '\n') ++line_, line_begin_ = line_at_ + 1;
  }
  return {line_, static_cast<uint32_t>(at - line_begin_ + 1)};
}

size_t Lexer::skip_space(size_t at) const {
  for (uint32_t size = 0; at < source_.size() && is_space(decode(source_, at, &size));) at += size;
  return at;
}

std::vector<Token> Lexer::run() {
  while (at_ < source_.size()) {
    size_t tag = source_.find('{', at_);
    while (tag != std::string_view::npos && !starts("{{", tag) && !starts("{%", tag) && !starts("{#", tag))
      tag = source_.find('{', tag + 1);
    if (tag == std::string_view::npos) {
      push(TokenKind::kText, at_, source_.size());
      break;
    }
    open_tag(at_, tag);
  }
  tokens_.push_back({TokenKind::kEnd, {}, position(source_.size())});
  return std::move(tokens_);
}

// Emits source[begin, end) less what the sign behind `tag` or lstrip_blocks takes away.
void Lexer::text_until(size_t begin, size_t end, size_t tag, bool may_lstrip) {
  const char sign = tag + 2 < source_.size() ? source_[tag + 2] : 0;
  if (sign == '-') {
    for (size_t at = begin, last = begin; at <= end;) {  // `last`: behind the last character that is no space
      if (at == end) {
        end = last;
        break;
      }
      uint32_t size = 0;
      const bool space = is_space(decode(source_, at, &size));
      at += size;
      if (!space) last = at;
    }
  } else if (sign != '+' && may_lstrip) {
    const size_t newline = end > begin ? source_.rfind('\n', end - 1) : std::string_view::npos;
    const bool in_text = newline != std::string_view::npos && newline >= begin;
    const size_t line = in_text ? newline + 1 : begin;
    if ((in_text || line_start_) && skip_space(line) >= end) end = line;
  }
  if (begin < end) push(TokenKind::kText, begin, end);
}

void Lexer::open_tag(size_t begin, size_t tag) {
  const char kind = source_[tag + 1];
  text_until(begin, tag, tag, kind != '{');
  if (kind == '#') return comment(tag);
  if (kind == '%' && raw(tag)) return;
  at_ = tag + 2;
  if (starts("-") || starts("+")) ++at_;
  push(kind == '{' ? TokenKind::kPrintBegin : TokenKind::kBlockBegin, tag, at_);
  if (kind == '{')
    code(TokenKind::kPrintEnd, "}}", false, tag);
  else
    code(TokenKind::kBlockEnd, "%}", true, tag);
}

// Behind "-%}", "+%}" or "%}" at `at` with the whitespace they take along, or npos.
size_t Lexer::after_sign_end(size_t at, std::string_view close, bool trims_newline) const {
  if (starts("-", at) && starts(close, at + 1)) return skip_space(at + 1 + close.size());
  if (trims_newline && starts("+", at) && starts(close, at + 1)) return at + 1 + close.size();
  if (!starts(close, at)) return std::string_view::npos;
  const size_t end = at + close.size();
  return trims_newline && starts("\n", end) ? end + 1 : end;
}

void Lexer::block_end(size_t end) {
  at_ = end;
  line_start_ = source_[end - 1] == '\n';
}

void Lexer::comment(size_t tag) {
  const size_t begin = tag + (starts("-", tag + 2) || starts("+", tag + 2) ? 3 : 2);
  const size_t close = source_.find("#}", begin);
  if (close == std::string_view::npos) fail_at(position(tag), "comment without its end '#}'");
  const bool sign = close > begin && (source_[close - 1] == '-' || source_[close - 1] == '+');
  block_end(after_sign_end(close - sign, "#}", true));
}

// {% raw %} ... {% endraw %} at `tag`: its inside becomes text.
bool Lexer::raw(size_t tag) {
  size_t at = tag + 2;
  if (starts("-", at) || starts("+", at)) ++at;
  at = skip_space(at);
  if (!starts("raw", at)) return false;
  at = after_sign_end(skip_space(at + 3), "%}", false);
  if (at == std::string_view::npos) return false;
  line_start_ = source_[at - 1] == '\n';
  for (size_t end_tag = source_.find("{%", at); end_tag != std::string_view::npos; end_tag = source_.find("{%", end_tag + 2)) {
    size_t name = end_tag + 2;
    if (starts("-", name) || starts("+", name)) ++name;
    name = skip_space(name);
    if (!starts("endraw", name)) continue;
    const size_t end = after_sign_end(skip_space(name + 6), "%}", true);
    if (end == std::string_view::npos) continue;
    text_until(at, end_tag, end_tag, true);
    block_end(end);
    return true;
  }
  fail_at(position(tag), "raw block without its '{% endraw %}'");
}

void Lexer::code(TokenKind end_kind, std::string_view close, bool trims_newline, size_t tag) {
  brackets_.clear();
  while (true) {
    const size_t end = brackets_.empty() ? after_sign_end(at_, close, trims_newline) : std::string_view::npos;
    if (end != std::string_view::npos) {
      push(end_kind, at_, end);
      return block_end(end);
    }
    if (at_ >= source_.size()) fail_at(position(tag), format("tag without its end '{}'", close));
    const size_t next = skip_space(at_);
    if (next != at_)
      at_ = next;
    else
      one_token();
  }
}

void Lexer::one_token() {
  const char c = source_[at_];
  if (is_digit_char(c)) return number();
  if (c == '"' || c == '\'') return string();
  if (!is_name_start(c)) return operator_token();
  size_t end = at_;
  while (end < source_.size() && is_name_char(source_[end])) ++end;
  push(TokenKind::kName, at_, end);
  at_ = end;
}

void Lexer::number() {
  size_t end = at_;
  bool is_float = false;
  const auto digits = [&](size_t at) {
    while (at < source_.size() &&
           (is_digit_char(source_[at]) || (source_[at] == '_' && at + 1 < source_.size() && is_digit_char(source_[at + 1]))))
      ++at;
    return at;
  };
  if (starts("0x") || starts("0X") || starts("0o") || starts("0O") || starts("0b") || starts("0B")) {
    end += 2;
    while (end < source_.size() && is_name_char(source_[end]) && static_cast<uint8_t>(source_[end]) < 0x80) ++end;
  } else {
    end = digits(at_);
    // ".5" after a dot is an attribute: a.0.1
    const bool after_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (!after_dot && starts(".", end) && end + 1 < source_.size() && is_digit_char(source_[end + 1])) {
      is_float = true;
      end = digits(end + 1);
    }
    size_t exponent = end + 1;
    if (!after_dot && (starts("e", end) || starts("E", end))) {
      if (starts("+", exponent) || starts("-", exponent)) ++exponent;
      if (exponent < source_.size() && is_digit_char(source_[exponent])) is_float = true, end = digits(exponent);
    }
  }
  push(is_float ? TokenKind::kFloat : TokenKind::kInteger, at_, end);
  at_ = end;
}

void Lexer::string() {
  size_t end = at_ + 1;
  for (; end < source_.size() && source_[end] != source_[at_]; ++end) {
    if (source_[end] == '\\') ++end;
  }
  if (end >= source_.size()) fail_at(position(at_), "string without its closing quote");
  push(TokenKind::kString, at_, end + 1);
  at_ = end + 1;
}

void Lexer::operator_token() {
  static constexpr std::string_view kLong[] = {"**", "//", "==", "!=", ">=", "<="};
  size_t size = 1;
  for (std::string_view each : kLong) size = starts(each) ? 2 : size;
  const char c = source_[at_];
  if (size == 1 && std::string_view("+-*/%~<>=.:|,;()[]{}").find(c) == std::string_view::npos) {
    fail_at(position(at_), format("unexpected character '{}'", source_.substr(at_, 1)));
  }
  if (c == '(' || c == '[' || c == '{') brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
  if (c == ')' || c == ']' || c == '}') {
    if (brackets_.empty() || brackets_.back() != c) fail_at(position(at_), format("unexpected '{}'", c));
    brackets_.pop_back();
  }
  push(TokenKind::kOperator, at_, at_ + size);
  at_ += size;
}

}  // namespace

std::string normalize_lines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

std::vector<Token> tokenize(std::string_view source) { return Lexer(source).run(); }

}  // namespace camshaft::text::jinja
