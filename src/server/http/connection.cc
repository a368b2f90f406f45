#include "server/http/connection.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "server/http/response_writer.h"

namespace camshaft::server::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr size_t kReadBytes = 64 << 10;
constexpr size_t kMaxPipelinedBytes = 64 << 10;  // read ahead while a request is answered
constexpr size_t kMaxAnswersQueued = 256 << 10;  // bytes of answers before the next pipelined request is looked at
constexpr double kLingerSeconds = 2;
constexpr size_t kMaxIdLength = 128;

base::SteadyTime now() { return base::steady_clock().now(); }

bool is_id_char(char c) {
  const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return alphanumeric || c == '.' || c == '_' || c == ':' || c == '-';
}

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdLength && std::all_of(text.begin(), text.end(), is_id_char);
}

}  // namespace

Connection::Connection(LoopContext& loop, tcp::socket socket, std::string address)
    : loop_(loop), socket_(std::move(socket)), address_(std::move(address)), parser_(loop.options->parser) {
  loop_.metrics->connections.add(1);
}

Connection::~Connection() { loop_.metrics->connections.add(-1); }

void Connection::start() {
  error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(tcp::no_delay(true), ignored);
  if (loop_.options->send_buffer_bytes > 0) {
    socket_.set_option(asio::socket_base::send_buffer_size(loop_.options->send_buffer_bytes), ignored);
  }
  since_ = now();
  want_read();
}

// --- requests -------------------------------------------------------------------------------------------------------------------

// Takes requests out of what was read, one at a time. Answers may come at once, within step().
void Connection::advance() {
  if (advancing_) return;
  advancing_ = true;
  while (step()) {
  }
  advancing_ = false;
  send();
  want_read();
}

bool Connection::step() {
  if (phase_ != Phase::kReading || close_after_send_ || out_.size() - sent_ > kMaxAnswersQueued) return false;
  switch (parser_.parse()) {
    case RequestParser::State::kNeedMore: break;
    case RequestParser::State::kFailed: refuse(parser_.refusal()); return false;
    case RequestParser::State::kDone: serve(parser_.take()); return true;
  }
  if (parser_.take_continue()) out_.append(kContinue);
  const Wait wait = parser_.idle() ? Wait::kIdle : parser_.head_done() ? Wait::kBody : Wait::kHead;
  if (wait != wait_) since_ = now();
  wait_ = wait;
  if (client_done_) close_after_send_ = true;  // nothing can complete what is here
  return false;
}

void Connection::serve(Request request) {
  phase_ = Phase::kAnswering;
  request.arrival = now();
  take_ids(request);
  http11_ = request.http11;
  keep_alive_ = request.keep_alive;
  body_wanted_ = request.method != "HEAD";
  streaming_ = head_sent_ = false;
  owner_ = nullptr;
  loop_.application->on_request(std::move(request), *this);
}

void Connection::take_ids(Request& request) {
  const std::string* given = request.header("x-request-id");
  request_id_ = given != nullptr && is_request_id(*given) ? *given : make_id();
  request.id = request_id_;
}

std::string Connection::make_id() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string id;
  for (int word = 0; word < 2; ++word) {
    const uint64_t bits = loop_.random();
    for (int shift = 0; shift < 64; shift += 4) id += kDigits[(bits >> shift) & 15];
  }
  return id;
}

// Bytes that are no request: an answer, and the end of this connection.
void Connection::refuse(const Refusal& refusal) {
  request_id_ = make_id();
  http11_ = body_wanted_ = true;
  keep_alive_ = false;
  phase_ = Phase::kAnswering;
  respond(loop_.application->refuse(refusal, request_id_));
}

// --- answers --------------------------------------------------------------------------------------------------------------------

void Connection::write_head(const Response& response, bool sized) {
  keep_alive_ = keep_alive_ && !client_done_ && !loop_.closing && (sized || http11_);
  const BodyKind kind = sized ? BodyKind::kSized : http11_ ? BodyKind::kChunked : BodyKind::kUntilClose;
  append_head(out_, response, {request_id_, http11_, keep_alive_ ? Persistence::kKeepAlive : Persistence::kClose, kind});
  head_sent_ = true;
}

void Connection::respond(Response response) {
  leave_stream();
  write_head(response, true);
  if (body_wanted_) out_.append(response.body);
  finish_answer();
}

void Connection::begin_stream() {
  streaming_ = true;
  last_sent_ = now();
  loop_.metrics->streams.add(1);
}

void Connection::append(std::string_view events) { events_.append(events); }

void Connection::send_stream(std::string_view data) {
  if (!head_sent_) write_head(stream_head(), false);
  const size_t before = out_.size();
  if (body_wanted_ && http11_) append_chunk(out_, data);
  if (body_wanted_ && !http11_) out_.append(data);
  if (writing_) blocked_bytes_ += out_.size() - before;
  loop_.metrics->stream_bytes.add(static_cast<double>(data.size()));
}

void Connection::flush() {
  if (phase_ != Phase::kAnswering || events_.empty()) return;
  send_stream(events_);
  events_.clear();
  if (blocked_bytes_ > loop_.options->max_unsent_bytes) return give_up();
  if (!advancing_) send();
}

void Connection::end_stream() {
  if (!events_.empty() || !head_sent_) send_stream(events_);
  events_.clear();
  if (http11_ && body_wanted_) out_.append(kLastChunk);
  finish_answer();
}

void Connection::leave_stream() {
  if (streaming_) loop_.metrics->streams.add(-1);
  streaming_ = false;
}

void Connection::finish_answer() {
  leave_stream();
  owner_ = nullptr;
  phase_ = Phase::kReading;
  wait_ = Wait::kIdle;
  since_ = now();
  if (!keep_alive_ || loop_.closing) close_after_send_ = true;
  advance();
}

// --- reading --------------------------------------------------------------------------------------------------------------------

// Also while a request is answered: that is how a client that goes away is seen.
void Connection::want_read() {
  if (reading_ || client_done_ || phase_ == Phase::kClosed) return;
  if (phase_ != Phase::kLingering && parser_.buffered() >= kMaxPipelinedBytes && phase_ != Phase::kReading) return;
  if (phase_ == Phase::kReading && out_.size() - sent_ > kMaxAnswersQueued) return;
  reading_ = true;
  ++pending_;
  socket_.async_wait(tcp::socket::wait_read, [this](const error_code& error) {
    --pending_;
    reading_ = false;
    on_readable(error);
    settle();
  });
}

void Connection::on_readable(const error_code& error) {
  if (error || phase_ == Phase::kClosed) return close();
  error_code read_error;
  loop_.scratch.resize(kReadBytes);
  const size_t count = socket_.read_some(asio::buffer(loop_.scratch), read_error);
  if (read_error == asio::error::would_block || read_error == asio::error::interrupted) return want_read();
  if (read_error) return on_end(read_error != asio::error::eof);
  on_bytes(std::string_view(loop_.scratch.data(), count));
}

void Connection::on_bytes(std::string_view bytes) {
  if (phase_ != Phase::kLingering && !close_after_send_) parser_.append(bytes);
  if (phase_ == Phase::kReading) return advance();
  want_read();
}

// A client that closes its side while it waits for a generation is gone: nobody closes one half on purpose there. What is already
// answered is still sent.
void Connection::on_end(bool reset) {
  client_done_ = true;
  if (reset || phase_ == Phase::kAnswering) return give_up();
  if (phase_ == Phase::kLingering) return close();
  advance();
}

// --- writing --------------------------------------------------------------------------------------------------------------------

void Connection::send() {
  if (phase_ == Phase::kClosed || writing_) return;
  if (!write_some()) return;
  if (sent_ == out_.size()) return on_all_sent();
  writing_ = true;
  ++pending_;
  last_sent_ = now();
  socket_.async_wait(tcp::socket::wait_write, [this](const error_code& error) {
    --pending_;
    writing_ = false;
    on_writable(error);
    settle();
  });
}

// Whether the connection still lives.
bool Connection::write_some() {
  while (sent_ < out_.size()) {
    error_code error;
    sent_ += socket_.write_some(asio::buffer(out_.data() + sent_, out_.size() - sent_), error);
    if (error == asio::error::would_block) return true;
    if (error && error != asio::error::interrupted) {
      give_up();
      return false;
    }
    last_sent_ = now();
  }
  return true;
}

void Connection::on_writable(const error_code& error) {
  if (error || phase_ == Phase::kClosed) return close();
  out_.erase(0, sent_);
  sent_ = 0;
  send();
}

void Connection::on_all_sent() {
  out_.clear();
  sent_ = blocked_bytes_ = 0;
  if (phase_ != Phase::kReading) return;
  if (close_after_send_) return client_done_ ? close() : linger();
  if (!advancing_ && parser_.buffered() > 0 && wait_ == Wait::kIdle) advance();
}

// --- times and the end ----------------------------------------------------------------------------------------------------------

void Connection::tick(base::SteadyTime at) {
  if (writing_ && base::seconds_between(last_sent_, at) > loop_.options->send_timeout_s) {
    give_up();
  } else if (phase_ == Phase::kLingering) {
    if (base::seconds_between(since_, at) > kLingerSeconds) close();
  } else if (phase_ == Phase::kReading) {
    check_reading(at);
  } else if (phase_ == Phase::kAnswering) {
    check_stream(at);
  }
}

void Connection::check_reading(base::SteadyTime at) {
  const double waited = base::seconds_between(since_, at);
  if (wait_ == Wait::kIdle) {
    if (waited > loop_.options->idle_timeout_s && out_.empty()) close();
  } else if (waited > (wait_ == Wait::kHead ? loop_.options->header_timeout_s : loop_.options->body_timeout_s)) {
    refuse({408, "request_timeout", wait_ == Wait::kHead ? "the head of the request came too slowly" : "the body came too slowly"});
  }
}

void Connection::check_stream(base::SteadyTime at) {
  const double interval = loop_.options->keep_alive_comment_s;
  if (!streaming_ || writing_ || interval <= 0 || base::seconds_between(last_sent_, at) < interval) return;
  send_stream(kKeepAliveComment);
  send();
}

void Connection::close_when_idle() {
  if (phase_ == Phase::kLingering || (phase_ == Phase::kReading && parser_.idle() && out_.empty())) close();
}

// The client is gone or as good as gone.
void Connection::give_up() {
  leave_stream();
  ExchangeOwner* owner = std::exchange(owner_, nullptr);
  close();
  if (owner != nullptr) owner->on_gone();
}

void Connection::linger() {
  if (loop_.stopping) return close();
  phase_ = Phase::kLingering;
  since_ = now();
  error_code ignored;
  socket_.shutdown(tcp::socket::shutdown_send, ignored);
  want_read();
}

void Connection::close() {
  if (phase_ == Phase::kClosed) return;
  if (owner_ != nullptr) return give_up();
  phase_ = Phase::kClosed;
  error_code ignored;
  socket_.close(ignored);
  settle();
}

// At the end of close() and of every handler. Removing is posted, so that whoever is still on the stack finds this alive.
void Connection::settle() {
  if (phase_ != Phase::kClosed || pending_ > 0) return;
  pending_ = 1;  // once
  asio::post(loop_.io, [this] { loop_.remove(*this); });
}

}  // namespace camshaft::server::http
