#include "server/http/http_server.h"

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/format.h"
#include "server/http/connection.h"

namespace camshaft::server::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// How many connections there are, in all and per client address. Any thread.
class ConnectionCount {
 public:
  ConnectionCount(int32_t max_total, int32_t max_per_address) : max_total_(max_total), max_per_address_(max_per_address) {}

  bool admit(const std::string& address) {
    const std::lock_guard lock(mutex_);
    if (total_ >= max_total_) return false;
    int32_t& count = per_address_[address];
    if (count >= max_per_address_) return false;
    ++count;
    ++total_;
    return true;
  }

  void leave(const std::string& address) {
    const std::lock_guard lock(mutex_);
    const auto found = per_address_.find(address);
    if (--found->second == 0) per_address_.erase(found);
    if (--total_ == 0) none_.notify_all();
  }

  void wait_none(base::SteadyTime deadline) {
    std::unique_lock lock(mutex_);
    none_.wait_until(lock, deadline, [this] { return total_ == 0; });
  }

 private:
  const int32_t max_total_;
  const int32_t max_per_address_;
  std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_map<std::string, int32_t> per_address_;
  int32_t total_ = 0;
};

// A fraction of the shortest time that is watched.
std::chrono::milliseconds tick_interval(const HttpOptions& options) {
  double shortest = 1;
  for (const double seconds : {options.header_timeout_s, options.body_timeout_s, options.idle_timeout_s, options.send_timeout_s,
                               options.keep_alive_comment_s}) {
    if (seconds > 0) shortest = std::min(shortest, seconds);
  }
  return std::chrono::milliseconds(std::max<int64_t>(5, static_cast<int64_t>(shortest * 250)));
}

// One thread with its io_context, connections and application.
class Loop final : public LoopContext {
 public:
  Loop(const HttpOptions& http_options, const HttpMetrics& http_metrics, ConnectionCount& count)
      : count_(count), work_(asio::make_work_guard(io)), timer_(io), interval_(tick_interval(http_options)) {
    options = &http_options;
    metrics = &http_metrics;
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    random.seed(seed);
  }

  ~Loop() override { stop(); }

  void start(const HttpServer::MakeApplication& make) {
    application_ = make([this](std::function<void()> function) { asio::post(io, std::move(function)); });
    application = application_.get();
    arm_timer();
    thread_ = std::thread([this] { io.run(); });
  }

  void stop() {
    if (!thread_.joinable()) return;
    io.stop();
    thread_.join();
    application_.reset();
    connections_.clear();
  }

  void add(tcp::socket socket, std::string address) {
    auto connection = std::make_unique<Connection>(*this, std::move(socket), std::move(address));
    Connection& added = *connection;
    connections_.emplace(&added, std::move(connection));
    added.start();
    if (stopping) added.close_when_idle();
  }

  void remove(Connection& connection) override {
    const std::string address = connection.address();
    connections_.erase(&connection);
    count_.leave(address);
  }

  // For good: also what was accepted and comes later.
  void close_idle() {
    closing = stopping = true;
    for (Connection* connection : list()) connection->close_when_idle();
  }

 private:
  // A copy: what is called may change the table.
  std::vector<Connection*> list() const {
    std::vector<Connection*> connections;
    for (const auto& [connection, owner] : connections_) connections.push_back(connection);
    return connections;
  }

  void arm_timer() {
    timer_.expires_after(interval_);
    timer_.async_wait([this](const error_code& error) {
      if (error) return;
      const base::SteadyTime now = base::steady_clock().now();
      for (Connection* connection : list()) connection->tick(now);
      arm_timer();
    });
  }

  ConnectionCount& count_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer timer_;
  std::chrono::milliseconds interval_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> connections_;
  std::unique_ptr<Application> application_;
  std::thread thread_;
};

Result<tcp::endpoint> resolve(asio::io_context& io, const std::string& host, int32_t port) {
  error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return tcp::endpoint(address, static_cast<unsigned short>(port));
  tcp::resolver resolver(io);
  const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (error || found.empty()) {
    return base::invalid_argument(format("--host {}: neither an address nor a name that resolves ({})", host, error.message()));
  }
  return found.begin()->endpoint();
}

class AsioServer final : public HttpServer {
 public:
  AsioServer(const HttpOptions& options, const HttpMetrics& metrics)
      : options_(options), metrics_(metrics), count_(options.max_connections, options.max_connections_per_address) {}

  ~AsioServer() override {
    stop_accepting();
    for (auto& loop : loops_) loop->stop();
    acceptor_.reset();  // before the loops
    retry_.reset();
  }

  Status start(const MakeApplication& make) {
    for (int32_t i = 0; i < options_.io_threads; ++i) loops_.push_back(std::make_unique<Loop>(options_, metrics_, count_));
    CS_RETURN_IF_ERROR(listen());
    for (auto& loop : loops_) loop->start(make);
    asio::post(loops_[0]->io, [this] { accept(); });
    return base::ok_status();
  }

  int port() const override { return port_; }

  void close_after_answers() override {
    for (auto& loop : loops_) asio::post(loop->io, [&loop = *loop] { loop.closing = true; });
  }

  void wait_closed(base::SteadyTime deadline) override {
    stop_accepting();
    for (auto& loop : loops_) {
      asio::post(loop->io, [&loop = *loop] { loop.close_idle(); });
    }
    count_.wait_none(deadline);
  }

 private:
  Status listen() {
    CS_ASSIGN_OR_RETURN(const tcp::endpoint endpoint, resolve(loops_[0]->io, options_.host, options_.port));
    acceptor_ = std::make_unique<tcp::acceptor>(loops_[0]->io);
    retry_ = std::make_unique<asio::steady_timer>(loops_[0]->io);
    error_code error;
    acceptor_->open(endpoint.protocol(), error);
    if (!error) acceptor_->set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_->bind(endpoint, error);
    if (!error) acceptor_->listen(kBacklog, error);
    if (error)
      return base::io_error(format("cannot listen on {} port {}; choose with --host and --port", options_.host, options_.port),
                            error.value());
    port_ = acceptor_->local_endpoint(error).port();
    return base::ok_status();
  }

  void stop_accepting() {
    if (loops_.empty() || acceptor_ == nullptr) return;
    asio::post(loops_[0]->io, [this] {
      error_code ignored;
      acceptor_->close(ignored);
    });
  }

  // New sockets go round the loops.
  void accept() {
    Loop& loop = *loops_[next_++ % loops_.size()];
    acceptor_->async_accept(loop.io, [this, &loop](const error_code& error, tcp::socket socket) {
      if (!error) admit(loop, std::move(socket));
      if (!acceptor_->is_open()) return;
      if (error) return accept_later();
      accept();
    });
  }

  // Descriptors are used up, most likely: trying again at once would only burn time.
  void accept_later() {
    retry_->expires_after(std::chrono::milliseconds(50));
    retry_->async_wait([this](const error_code& error) {
      if (!error && acceptor_->is_open()) accept();
    });
  }

  void admit(Loop& loop, tcp::socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;  // gone already
    std::string address = peer.address().to_string();
    if (!count_.admit(address)) return metrics_.refused_connections.add();
    asio::post(loop.io, [&loop, socket = std::move(socket), address = std::move(address)]() mutable {
      loop.add(std::move(socket), std::move(address));
    });
  }

  static constexpr int kBacklog = 1024;
  const HttpOptions options_;
  const HttpMetrics metrics_;
  ConnectionCount count_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::unique_ptr<tcp::acceptor> acceptor_;
  std::unique_ptr<asio::steady_timer> retry_;
  size_t next_ = 0;
  int port_ = 0;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpOptions& options, const HttpMetrics& metrics,
                                                      const MakeApplication& make) {
  auto server = std::make_unique<AsioServer>(options, metrics);
  CS_RETURN_IF_ERROR(server->start(make));
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace camshaft::server::http
