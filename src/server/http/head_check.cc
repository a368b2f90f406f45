#include "server/http/head_check.h"

#include <algorithm>
#include <string>

#include "base/format.h"

namespace camshaft::server::http {
namespace {

constexpr std::string_view kCrLf = "\r\n";
constexpr size_t kMaxLengthDigits = 18;

Refusal bad_request(const char* message) { return {400, "", message}; }

Refusal headers_too_large(size_t limit) {
  return {431, "headers_too_large", format("the header lines are larger than {} bytes", limit)};
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token_char(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || is_digit(c) || (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

bool is_token(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char); }

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// The fields that say where the message ends and whom it is for.
struct Framing {
  int hosts = 0;
  int lengths = 0;
  int encodings = 0;
};

std::optional<Refusal> check_length(std::string_view value) {
  if (value.empty() || value.size() > kMaxLengthDigits || !std::all_of(value.begin(), value.end(), is_digit)) {
    return bad_request("Content-Length must be one decimal number");
  }
  return {};
}

std::optional<Refusal> check_host(std::string_view value) {
  if (value.find_first_of(" \t/@?#,") != std::string_view::npos)
    return bad_request("Host must be one host name with an optional port");
  return {};
}

std::optional<Refusal> check_field(std::string_view name, std::string_view value, Framing& framing) {
  if (equal_ignoring_case(name, "content-length")) {
    ++framing.lengths;
    return check_length(value);
  }
  if (equal_ignoring_case(name, "host")) {
    ++framing.hosts;
    return check_host(value);
  }
  if (equal_ignoring_case(name, "transfer-encoding")) {
    ++framing.encodings;
    if (!equal_ignoring_case(value, "chunked")) return bad_request("Transfer-Encoding may only be chunked");
  }
  return {};
}

std::optional<Refusal> check_line(std::string_view line, Framing& framing) {
  if (line.front() == ' ' || line.front() == '\t') return bad_request("folded header lines are not accepted");
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return bad_request("a header line must be 'name: value' without a blank before the colon");
  }
  return check_field(line.substr(0, colon), trimmed(line.substr(colon + 1)), framing);
}

std::optional<Refusal> check_framing(const Framing& framing, bool http11) {
  if (framing.lengths > 1) return bad_request("Content-Length stands more than once");
  if (framing.encodings > 1) return bad_request("Transfer-Encoding stands more than once");
  if (framing.lengths + framing.encodings > 1) return bad_request("Content-Length and Transfer-Encoding exclude each other");
  if (framing.encodings > 0 && !http11) return bad_request("Transfer-Encoding needs HTTP/1.1");
  if (framing.hosts > 1) return bad_request("Host stands more than once");
  if (framing.hosts == 0 && http11) return bad_request("HTTP/1.1 needs a Host field");
  return {};
}

// "METHOD target HTTP/1.x" with single blanks; gives the version's last digit.
std::optional<Refusal> check_request_line(std::string_view line, bool& http11) {
  const size_t first = line.find(' ');
  const size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
  if (second == std::string_view::npos || !is_token(line.substr(0, first)) || second == first + 1) {
    return bad_request("the request line must be 'METHOD target HTTP/1.1'");
  }
  const std::string_view version = line.substr(second + 1);
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) || version[6] != '.' || !is_digit(version[7])) {
    return bad_request("the request line must be 'METHOD target HTTP/1.1'");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return Refusal{505, "", "only HTTP/1.1 and HTTP/1.0 are spoken here"};
  http11 = version == "HTTP/1.1";
  return {};
}

}  // namespace

std::optional<Refusal> HeadScanner::scan(std::string_view buffer) {
  while (position_ < buffer.size() && !done_) {
    const char c = buffer[position_++];
    if (auto refusal = take(c)) return refusal;
  }
  return {};
}

std::optional<Refusal> HeadScanner::take(char c) {
  if (after_cr_) {
    if (c != '\n') return bad_request("a carriage return must be followed by a line feed");
    after_cr_ = false;
    return end_line();
  }
  if (c == '\r') {
    after_cr_ = true;
    return {};
  }
  if (c == '\n') return bad_request("lines must end with carriage return and line feed");
  if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
    return bad_request("control characters are not accepted in a head");
  ++line_bytes_;
  if (lines_ == 0) {
    if (line_bytes_ > limits_.request_line)
      return Refusal{414, "uri_too_long", format("the request line is longer than {} bytes", limits_.request_line)};
  } else if (++header_bytes_ > limits_.header_bytes) {
    return headers_too_large(limits_.header_bytes);
  }
  return {};
}

std::optional<Refusal> HeadScanner::end_line() {
  if (line_bytes_ == 0) {
    if (lines_ > 0) {
      done_ = true;
    } else if (begin_ > 0) {
      return bad_request("a request begins with its request line");
    } else {
      begin_ = position_;
    }
    return {};
  }
  line_bytes_ = 0;
  if (lines_ > 0 && (header_bytes_ += kCrLf.size()) > limits_.header_bytes) return headers_too_large(limits_.header_bytes);
  if (++lines_ > limits_.header_lines + 1) {
    return Refusal{431, "headers_too_large", format("there are more than {} header lines", limits_.header_lines)};
  }
  return {};
}

std::optional<Refusal> check_head(std::string_view head) {
  Framing framing;
  bool http11 = true;
  bool first = true;
  while (true) {
    const size_t end = head.find(kCrLf);
    const std::string_view line = head.substr(0, end);
    if (line.empty()) return check_framing(framing, http11);
    if (auto refusal = first ? check_request_line(line, http11) : check_line(line, framing)) return refusal;
    first = false;
    head.remove_prefix(end + kCrLf.size());
  }
}

}  // namespace camshaft::server::http
