// The server's metrics. Label sets are fixed: routes come from the route table, codes from a list.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "server/http/http_server.h"

namespace camshaft::server {

class ServerMetrics {
 public:
  explicit ServerMetrics(base::MetricsRegistry& registry);
  // One answer. `route` is an index of the route table, or kNoRoute.
  void count(size_t route, int status, double seconds) const;
  const http::HttpMetrics& http() const { return http_; }

  static constexpr size_t kNoRoute = static_cast<size_t>(-1);

 private:
  struct RouteMetrics {
    std::map<int, base::Counter*> by_code;
    base::Counter* other_code = nullptr;
    base::Histogram* seconds = nullptr;
  };
  RouteMetrics make_route(base::MetricsRegistry& registry, std::string_view route, std::string_view method,
                          std::span<const int> codes);

  std::vector<RouteMetrics> routes_;  // in the table's order; the last one: no route
  http::HttpMetrics http_;
};

}  // namespace camshaft::server
