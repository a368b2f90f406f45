// Escapes of quoted strings in template code: Python's, without \N{name}.
#include <charconv>

#include "base/utf8.h"
#include "text/jinja/lexer.h"

namespace camshaft::text::jinja {
namespace {

class Unescaper {
 public:
  explicit Unescaper(const Token& token) : token_(token), text_(token.text.substr(1, token.text.size() - 2)) {}

  std::string run() {
    while (at_ < text_.size()) {
      if (text_[at_] != '\\' || at_ + 1 == text_.size())
        out_ += text_[at_++];
      else
        escape(text_[at_ + 1]);
    }
    return std::move(out_);
  }

 private:
  void escape(char c) {
    static constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
    at_ += 2;
    if (const size_t simple = kFrom.find(c); simple != std::string_view::npos) {
      out_ += kTo[simple];
    } else if (c == 'x' || c == 'u' || c == 'U') {
      code(c == 'x' ? 2 : c == 'u' ? 4 : 8, 16);
    } else if (c >= '0' && c <= '7') {
      --at_;
      size_t digits = 1;
      while (digits < 3 && at_ + digits < text_.size() && text_[at_ + digits] >= '0' && text_[at_ + digits] <= '7') ++digits;
      code(digits, 8);
    } else if (c != '\n') {  // a line end behind a backslash joins the lines; any other escape stays as it is
      out_ += '\\';
      out_ += c;
    }
  }

  void code(size_t digits, int base) {
    uint32_t value = 0;
    const std::string_view part = text_.substr(at_, digits);
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), value, base);
    if (part.size() != digits || parsed.ptr != part.data() + digits) fail_at(token_.position, "string with a broken escape");
    if (value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
      fail_at(token_.position, "string with an escape that is no character");
    base::append_utf8(out_, value);
    at_ += digits;
  }

  const Token& token_;
  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string unescape(const Token& token) { return Unescaper(token).run(); }

}  // namespace camshaft::text::jinja
