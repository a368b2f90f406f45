// HttpServer: listener, I/O loops and their connections. The library behind it (Boost.Asio) is seen only in http_server.cc and
// connection.{h,cc}.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/metrics.h"
#include "base/status.h"
#include "server/http/exchange.h"
#include "server/http/request_parser.h"

namespace camshaft::server::http {

struct HttpOptions {
  std::string host;
  int32_t port = 0;  // 0: any free one
  int32_t io_threads = 1;
  int32_t max_connections = 0;
  int32_t max_connections_per_address = 0;
  ParserLimits parser;
  size_t max_unsent_bytes = 64 << 10;  // of an event stream whose client does not read
  int32_t send_buffer_bytes = 0;       // of a socket, in the kernel; 0: the system's choice
  double header_timeout_s = 0;
  double body_timeout_s = 0;
  double idle_timeout_s = 0;
  double send_timeout_s = 0;
  double keep_alive_comment_s = 0;  // 0: off
};

// Where the transport counts. All live as long as the server.
struct HttpMetrics {
  base::Gauge& connections;
  base::Gauge& streams;
  base::Counter& stream_bytes;
  base::Counter& refused_connections;
};

class HttpServer {
 public:
  // One application a loop; `post` runs functions on that loop.
  using MakeApplication = std::function<std::unique_ptr<Application>(Poster post)>;
  // Listens when this returns.
  static Result<std::unique_ptr<HttpServer>> start(const HttpOptions& options, const HttpMetrics& metrics,
                                                   const MakeApplication& make);
  // Ends the loops at once. Applications go before the connections; what they wait for must have ended.
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  // From now on connections close behind their answers.
  virtual void close_after_answers() = 0;
  // Accepts no more, closes idle connections and returns when all are closed, or at the deadline.
  virtual void wait_closed(base::SteadyTime deadline) = 0;
};

}  // namespace camshaft::server::http
