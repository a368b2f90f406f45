// Server: HTTP in front of model entries. cli hands it ready entries; it knows nothing of engines or devices.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/status.h"
#include "generation/generation.h"

namespace camshaft::server {

struct ServerOptions {
  std::string host = "127.0.0.1";
  int32_t port = 8000;  // 0: any free one (tests)
  int32_t io_threads = 1;
  uint64_t max_body_bytes = uint64_t{8} << 20;
  int32_t max_connections = 10'000;
  int32_t max_connections_per_address = 256;
  double header_timeout_s = 10;
  double body_timeout_s = 30;
  double idle_timeout_s = 75;
  double send_timeout_s = 30;
  double request_timeout_s = 600;
  double drain_timeout_s = 30;
  double keep_alive_comment_s = 15;      // 0: off
  bool strict_requests = false;          // unknown fields are refused
  uint64_t max_unsent_bytes = 64 << 10;  // of a stream whose client does not read; then it is cancelled
  int32_t send_buffer_bytes = 0;         // of each socket, in the kernel; 0: the system's choice
  std::string version;                   // what /version says
};

class Server {
 public:
  // Listens when this returns. The registry and the entries outlive the server.
  static Result<std::unique_ptr<Server>> start(const ServerOptions& options, std::vector<const generation::ModelEntry*> models,
                                               base::MetricsRegistry& metrics);
  virtual ~Server() = default;
  virtual int port() const = 0;
  // Not ready at once, no new requests, running ones finish (or are aborted after drain_timeout_s); then connections close. Blocks.
  virtual void drain() = 0;
};

}  // namespace camshaft::server
