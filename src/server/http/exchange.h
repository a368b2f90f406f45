// Exchange: one request's way back, as the routes see it. Application: what a connection asks when a request came. All of it on the
// thread of one I/O loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/http/message.h"

namespace camshaft::server::http {

// Whoever answers later than on_request() returns.
class ExchangeOwner {
 public:
  virtual ~ExchangeOwner() = default;
  // The client is gone, or reads so slowly that it was given up; the exchange must not be touched any more.
  virtual void on_gone() = 0;
};

// Answered either whole by respond(), or as an event stream: begin_stream(), append() and flush() as often as wanted, end_stream().
// After respond(), end_stream() or on_gone() the exchange is over.
class Exchange {
 public:
  virtual ~Exchange() = default;
  // Told when the client goes. Needed by those who answer later.
  virtual void set_owner(ExchangeOwner* owner) = 0;
  virtual void respond(Response response) = 0;

  // Nothing is sent yet: until head_sent() an error may still be answered by respond().
  virtual void begin_stream() = 0;
  virtual bool head_sent() const = 0;
  // Gathered until flush(), which sends it as one piece. May end in on_gone().
  virtual void append(std::string_view events) = 0;
  virtual void flush() = 0;
  virtual void end_stream() = 0;
};

// One a loop, called on its thread only.
class Application {
 public:
  virtual ~Application() = default;
  virtual void on_request(Request request, Exchange& exchange) = 0;
  // Bytes that were no request: the answer before the connection closes.
  virtual Response refuse(const Refusal& refusal, const std::string& request_id) = 0;
};

// Runs a function on the loop's thread. Any thread may call it.
using Poster = std::function<void(std::function<void()>)>;

}  // namespace camshaft::server::http
