// The only file that sees Boost.Beast.
#include "server/http/request_parser.h"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"

namespace camshaft::server::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;

constexpr std::string_view kCrLf = "\r\n";
constexpr size_t kMaxChunkHead = 8 << 10;  // size line with extensions, or trailer, in bytes
constexpr size_t kMaxChunkDigits = 16;
constexpr size_t kMaxChunkExtension = 256;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// One request as the library reports it.
class Message final : public beast::http::basic_parser<true> {
 public:
  Message(const ParserLimits& limits) : max_chunks_(limits.chunks) {
    header_limit(static_cast<std::uint32_t>(limits.head.request_line + limits.head.header_bytes + 1024));
    body_limit(limits.body_bytes);
    eager(false);  // one element a call: the chunk's own line is looked at before the library sees it
  }

  Request request;
  std::string target;
  bool at_chunk_head = false;  // the next byte belongs to a chunk's size line (or the line ending before it)
  bool first_chunk = true;
  bool too_many_chunks = false;

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view text, int version, error_code&) override {
    request.method = view(method);
    target = view(text);
    request.http11 = version == 11;
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}
  // Trailer fields are read and dropped: they may not change what the head said.
  void on_field_impl(beast::http::field, beast::string_view name, beast::string_view value, error_code&) override {
    if (!head_done_) request.headers.push_back({std::string(view(name)), std::string(view(value))});
  }
  void on_header_impl(error_code&) override { head_done_ = true; }
  void on_body_init_impl(boost::optional<std::uint64_t> const&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view bytes, error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view extension, error_code& ec) override {
    too_many_chunks = size > 0 && ++chunks_ > max_chunks_;
    if (too_many_chunks) ec = beast::http::error::body_limit;
    if (extension.size() > kMaxChunkExtension || has_control(view(extension))) ec = beast::http::error::bad_chunk_extension;
    at_chunk_head = false;
    first_chunk = false;
  }
  std::size_t on_chunk_body_impl(std::uint64_t remaining, beast::string_view bytes, error_code&) override {
    request.body.append(bytes.data(), bytes.size());
    at_chunk_head = remaining == bytes.size();
    return bytes.size();
  }
  void on_finish_impl(error_code&) override {}

  static bool has_control(std::string_view text) {
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return true;
    }
    return false;
  }

  uint32_t max_chunks_;
  uint32_t chunks_ = 0;
  bool head_done_ = false;
};

// What stands where a chunk's size line begins: behind the line ending of the chunk before it.
std::string_view size_line(std::string_view bytes, bool first) {
  return bytes.substr(first ? 0 : std::min(kCrLf.size(), bytes.size()));
}

// More digits than a 64-bit size has, leading zeros too.
bool chunk_size_too_long(std::string_view bytes, bool first) {
  bytes = size_line(bytes, first);
  size_t digits = 0;
  while (digits < bytes.size() && is_hex(bytes[digits])) ++digits;
  return digits > kMaxChunkDigits;
}

// A size of zero, known from the byte behind it.
bool is_last_chunk(std::string_view line) {
  const size_t digits = line.find_first_not_of('0');
  return digits != 0 && digits != std::string_view::npos && !is_hex(line[digits]);
}

// The last chunk's line is here, its trailer not yet to the end. The library may only see them together: it asserts on less.
bool last_chunk_incomplete(std::string_view bytes, bool first) {
  bytes = size_line(bytes, first);
  return is_last_chunk(bytes) && bytes.find("\r\n\r\n") == std::string_view::npos;
}

// Whether a line of the framing (chunk end, size line, trailer) ends otherwise than in CR LF, as far as it is here. The library
// would wait for more.
bool has_bare_line_end(std::string_view bytes, bool first) {
  if (!first && !kCrLf.starts_with(bytes.substr(0, kCrLf.size()))) return true;
  bytes = size_line(bytes, first);
  const bool last = is_last_chunk(bytes);
  while (true) {
    const size_t end = bytes.find_first_of(kCrLf);
    if (end == std::string_view::npos) return false;
    if (!kCrLf.starts_with(bytes.substr(end, kCrLf.size()))) return true;
    if (!last || end == 0) return false;  // behind it comes data, or the next request
    bytes.remove_prefix(std::min(end + kCrLf.size(), bytes.size()));
  }
}

uint64_t chunk_size(std::string_view bytes, bool first) {
  bytes = size_line(bytes, first);
  uint64_t size = 0;
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), size, 16);
  return size;
}

std::optional<int> hex_value(char c) {
  if (!is_hex(c)) return {};
  return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

// Nothing where an escape is broken or stands for a control character.
std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return {};
      const auto high = hex_value(text[i + 1]);
      const auto low = hex_value(text[i + 2]);
      if (!high || !low) return {};
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return {};
    out += c;
  }
  return out;
}

// "/path?query", or the absolute form that proxies use.
bool split_target(std::string_view target, Request& request) {
  const size_t scheme = target.find("://");
  if (target.front() != '/' && scheme != std::string_view::npos) {
    const size_t slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  if (target == "*") {
    request.path = "*";
    return true;
  }
  if (target.front() != '/') return false;
  const size_t question = target.find('?');
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  auto path = percent_decode(target.substr(0, question));
  if (!path) return false;
  request.path = std::move(*path);
  return true;
}

// `bytes`: what the library was given when it found the body too large.
std::string describe_size(const Message& message, std::string_view bytes, const ParserLimits& limits) {
  if (message.too_many_chunks)
    return format("the body has {} chunks or more, at most {} are accepted", uint64_t{limits.chunks} + 1, limits.chunks);
  if (const std::string* length = message.request.header("content-length"))
    return format("the body has {} bytes, at most {} are accepted", *length, limits.body_bytes);
  return format("the body has {} bytes and a chunk of {} more, at most {} are accepted", message.request.body.size(),
                chunk_size(bytes, message.first_chunk), limits.body_bytes);
}

Refusal refusal_of(error_code ec, const Message& message, std::string_view bytes, const ParserLimits& limits) {
  if (ec == beast::http::error::body_limit) return {413, "payload_too_large", describe_size(message, bytes, limits)};
  if (ec == beast::http::error::header_limit) return {431, "headers_too_large", "the head is larger than this server accepts"};
  return {400, "", "this is not a well-formed HTTP request"};
}

}  // namespace

struct RequestParser::Impl {
  explicit Impl(const ParserLimits& parser_limits) : limits(parser_limits), scanner(limits.head) { message.emplace(limits); }

  State fail(const Refusal& why) {
    refusal = why;
    return state = State::kFailed;
  }

  State parse_head() {
    if (auto refused = scanner.scan(rest())) return fail(*refused);
    if (!scanner.done()) return State::kNeedMore;
    const std::string_view head = scanner.head(rest());
    if (auto refused = check_head(head)) return fail(*refused);
    if (auto refused = feed_head(head)) return fail(*refused);
    consumed += scanner.end();
    head_done = true;
    return finish_head();
  }

  std::optional<Refusal> feed_head(std::string_view head) {
    while (!head.empty() && !message->is_header_done()) {
      error_code ec;
      head.remove_prefix(message->put(boost::asio::const_buffer(head.data(), head.size()), ec));
      if (ec) return refusal_of(ec, *message, head, limits);
    }
    return {};
  }

  State finish_head() {
    Request& request = message->request;
    if (!split_target(message->target, request)) return fail({400, "", "the request target is not a path"});
    request.keep_alive = message->keep_alive();
    message->at_chunk_head = message->chunked();
    const std::string* expectation = request.header("expect");
    if (expectation == nullptr) return State::kDone;
    if (!equal_ignoring_case(*expectation, "100-continue")) return fail({417, "", "the only expectation met here is 100-continue"});
    wants_continue = request.http11 && !message->is_done();
    return State::kDone;
  }

  State parse_body() {
    while (!message->is_done()) {
      const std::string_view bytes = rest();
      if (bytes.empty()) return State::kNeedMore;
      if (message->at_chunk_head && chunk_size_too_long(bytes, message->first_chunk)) {
        return fail({400, "", "a chunk size has more than 16 digits"});
      }
      if (message->at_chunk_head && has_bare_line_end(bytes, message->first_chunk)) {
        return fail({400, "", "lines of a chunked body must end with carriage return and line feed"});
      }
      error_code ec;
      if (message->at_chunk_head && last_chunk_incomplete(bytes, message->first_chunk)) {
        ec = beast::http::error::need_more;
      } else {
        consumed += message->put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
      }
      if (ec == beast::http::error::need_more) {
        if (rest().size() > kMaxChunkHead) return fail({400, "", "a chunk's size line or trailer is longer than 8192 bytes"});
        return State::kNeedMore;
      }
      if (ec) return fail(refusal_of(ec, *message, bytes, limits));
    }
    return state = State::kDone;
  }

  std::string_view rest() const { return std::string_view(buffer).substr(consumed); }

  void compact() {
    buffer.erase(0, consumed);
    consumed = 0;
  }

  void start_next() {
    compact();
    message.emplace(limits);
    scanner = HeadScanner(limits.head);
    state = State::kNeedMore;
    head_done = wants_continue = false;
  }

  ParserLimits limits;
  HeadScanner scanner;
  std::optional<Message> message;
  std::string buffer;
  size_t consumed = 0;  // of buffer
  State state = State::kNeedMore;
  Refusal refusal;
  bool head_done = false;
  bool wants_continue = false;
};

RequestParser::RequestParser(const ParserLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
RequestParser::~RequestParser() = default;

void RequestParser::append(std::string_view bytes) {
  impl_->compact();
  impl_->buffer.append(bytes);
}

RequestParser::State RequestParser::parse() {
  if (impl_->state != State::kNeedMore) return impl_->state;
  if (!impl_->head_done) {
    const State state = impl_->parse_head();
    if (state != State::kDone) return state;
  }
  return impl_->parse_body();
}

Request RequestParser::take() {
  Request request = std::move(impl_->message->request);
  impl_->start_next();
  return request;
}

const Refusal& RequestParser::refusal() const { return impl_->refusal; }
bool RequestParser::idle() const { return impl_->rest().empty() && !impl_->head_done; }
bool RequestParser::head_done() const { return impl_->head_done; }
bool RequestParser::take_continue() { return std::exchange(impl_->wants_continue, false) && impl_->rest().empty(); }
size_t RequestParser::buffered() const { return impl_->rest().size(); }

}  // namespace camshaft::server::http
