// Json to text: compact, pretty, and the two appenders that the event stream uses directly.
#include <array>
#include <charconv>
#include <cmath>

#include "base/json.h"

namespace camshaft::base {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

// Bytes that append_json_string looks at more closely. 0xC2 and 0xE2 lead U+0085 and U+2028, U+2029.
constexpr std::array<bool, 256> make_special_bytes() {
  std::array<bool, 256> special{};
  for (int byte = 0; byte < 0x20; ++byte) special[byte] = true;
  for (int byte : {0x22, 0x5C, 0xC2, 0xE2}) special[byte] = true;
  return special;
}
constexpr std::array<bool, 256> kSpecialBytes = make_special_bytes();

void append_control_escape(std::string& out, unsigned char byte) {
  switch (byte) {
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: out += {'\\', 'u', '0', '0', kHexDigits[byte >> 4], kHexDigits[byte & 15]};
  }
}

// Writes what stands at the start of `rest` and returns how many bytes that were.
size_t append_special(std::string& out, std::string_view rest) {
  const auto byte = static_cast<unsigned char>(rest[0]);
  if (byte < 0x20) {
    append_control_escape(out, byte);
    return 1;
  }
  if (byte == '"' || byte == '\\') {
    out += {'\\', rest[0]};
    return 1;
  }
  if (rest.substr(0, 2) == "\xC2\x85") return out += "\\u0085", 2;
  if (rest.substr(0, 3) == "\xE2\x80\xA8") return out += "\\u2028", 3;
  if (rest.substr(0, 3) == "\xE2\x80\xA9") return out += "\\u2029", 3;
  out += rest[0];
  return 1;
}

template <typename T>
void append_number(std::string& out, T value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  out.append(buffer, result.ptr);
}

class Writer {
 public:
  Writer(std::string& out, int indent) : out_(out), indent_(indent) {}

  void write(const Json& value) {
    switch (value.kind()) {
      case Json::Kind::kNull: out_ += "null"; return;
      case Json::Kind::kBool: out_ += value.as_bool() ? "true" : "false"; return;
      case Json::Kind::kInt: append_number(out_, *value.int_if()); return;
      case Json::Kind::kUint: append_number(out_, *value.uint_if()); return;
      case Json::Kind::kDouble: append_json_double(out_, value.as_double()); return;
      case Json::Kind::kString: append_json_string(out_, value.as_string()); return;
      case Json::Kind::kArray: write_items('[', value.as_array(), ']'); return;
      case Json::Kind::kObject: write_items('{', value.as_object(), '}'); return;
    }
  }

 private:
  void write(const JsonMember& member) {
    append_json_string(out_, member.first);
    out_ += indent_ > 0 ? ": " : ":";
    write(member.second);
  }

  template <typename Items>
  void write_items(char opening, const Items& items, char closing) {
    out_ += opening;
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += ',';
      break_line();
      write(items[i]);
    }
    --depth_;
    if (!items.empty()) break_line();
    out_ += closing;
  }

  void break_line() {
    if (indent_ > 0) out_.append(1, '\n').append(static_cast<size_t>(indent_) * depth_, ' ');
  }

  std::string& out_;
  int indent_;  // 0: compact
  size_t depth_ = 0;
};

}  // namespace

std::string Json::dump() const { return dump_pretty(0); }

std::string Json::dump_pretty(int indent) const {
  std::string out;
  Writer(out, indent).write(*this);
  return out;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  size_t run = 0;
  for (size_t i = 0; i < text.size();) {
    if (!kSpecialBytes[static_cast<unsigned char>(text[i])]) {
      ++i;
      continue;
    }
    out.append(text, run, i - run);
    i += append_special(out, text.substr(i));
    run = i;
  }
  out.append(text, run);
  out += '"';
}

void append_json_double(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  const size_t start = out.size();
  append_number(out, value);
  // Without a point or an exponent it would read back as an integer.
  if (out.find_first_of(".e", start) == std::string::npos) out += ".0";
}

}  // namespace camshaft::base
