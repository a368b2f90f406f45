#include "server/server.h"

#include <latch>
#include <utility>

#include "base/format.h"
#include "server/service.h"

namespace camshaft::server {
namespace {

constexpr std::chrono::seconds kLastBytes(5);  // for answers that are complete but not yet read, at the end of a drain

http::HttpOptions http_options(const ServerOptions& options) {
  http::HttpOptions http;
  http.host = options.host;
  http.port = options.port;
  http.io_threads = options.io_threads;
  http.max_connections = options.max_connections;
  http.max_connections_per_address = options.max_connections_per_address;
  http.parser.body_bytes = options.max_body_bytes;
  http.max_unsent_bytes = options.max_unsent_bytes;
  http.send_buffer_bytes = options.send_buffer_bytes;
  http.header_timeout_s = options.header_timeout_s;
  http.body_timeout_s = options.body_timeout_s;
  http.idle_timeout_s = options.idle_timeout_s;
  http.send_timeout_s = options.send_timeout_s;
  http.keep_alive_comment_s = options.keep_alive_comment_s;
  return http;
}

Status check(const ServerOptions& options, const std::vector<const generation::ModelEntry*>& models) {
  if (options.io_threads < 1) return base::invalid_argument(format("--io-threads {}: at least 1 is needed", options.io_threads));
  if (options.port < 0 || options.port > 65535) return base::invalid_argument(format("--port {}: must be 0..65535", options.port));
  if (models.empty()) return base::invalid_argument("a server needs a model");
  return base::ok_status();
}

class HttpFrontServer final : public Server {
 public:
  HttpFrontServer(const ServerOptions& options, std::vector<const generation::ModelEntry*> models, base::MetricsRegistry& metrics)
      : shared_(options, std::move(models), metrics) {}

  // What runs is cancelled: the executors owe each job one last event, and the queues live until all have come.
  ~HttpFrontServer() override {
    shared_.draining = true;
    if (http_ == nullptr) return;
    std::latch cancelled(static_cast<std::ptrdiff_t>(loops_.size()));
    for (const Loop& loop : loops_) {
      loop.post([&service = *loop.service, &cancelled] {
        service.cancel_all();
        cancelled.count_down();
      });
    }
    cancelled.wait();  // no loop is in the middle of starting a job any more
    shared_.jobs.wait_none();
    http_.reset();
  }

  Status listen() {
    auto http = http::HttpServer::start(http_options(shared_.options), shared_.metrics.http(), [this](http::Poster post) {
      auto service = std::make_unique<Service>(shared_, post);
      loops_.push_back({service.get(), std::move(post)});
      return service;
    });
    if (!http.ok()) return std::move(http).status();
    http_ = std::move(*http);
    return base::ok_status();
  }

  int port() const override { return http_->port(); }

  void drain() override {
    shared_.draining = true;
    http_->close_after_answers();
    const auto timeout = std::chrono::duration<double>(shared_.options.drain_timeout_s);
    const base::SteadyTime deadline = base::steady_clock().now() + std::chrono::duration_cast<base::SteadyTime::duration>(timeout);
    for (const generation::ModelEntry* model : shared_.models) model->executor->drain(deadline);
    http_->wait_closed(base::steady_clock().now() + kLastBytes);
  }

 private:
  struct Loop {
    Service* service;  // the loop's; lives until http_ goes
    http::Poster post;
  };
  Shared shared_;
  std::vector<Loop> loops_;
  std::unique_ptr<http::HttpServer> http_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options, std::vector<const generation::ModelEntry*> models,
                                              base::MetricsRegistry& metrics) {
  CS_RETURN_IF_ERROR(check(options, models));
  auto server = std::make_unique<HttpFrontServer>(options, std::move(models), metrics);
  CS_RETURN_IF_ERROR(server->listen());
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace camshaft::server
