#include "server/server_metrics.h"

#include "server/routes.h"

namespace camshaft::server {
namespace {

constexpr int kProbeCodes[] = {200, 503};
constexpr int kApiCodes[] = {200, 400, 404, 413, 415, 499, 500, 503, 504};
constexpr int kNoRouteCodes[] = {400, 404, 405, 408, 413, 414, 417, 431, 505};

std::vector<double> latency_bounds() {
  return {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1,   1.5, 2,    2.5, 5,
          10,    15,   20,   30,   40,  50,  60,  120, 240, 480, 960, 1920, 7680};
}

}  // namespace

ServerMetrics::ServerMetrics(base::MetricsRegistry& registry)
    : http_{
          registry.gauge("http_connections", "Open client connections.", {{"proto", "h1"}}),
          registry.gauge("http_streams", "Event streams in progress.", {{"proto", "h1"}}),
          registry.counter("sse_bytes_total", "Bytes of event streams, without chunk framing."),
          registry.counter("http_connections_refused_total", "Connections closed at once: over the limit in all or per address.")} {
  for (const Route& route : route_table()) {
    const bool probe = route.access == Access::kOpen;
    routes_.push_back(make_route(registry, route.path, route.method,
                                 probe ? std::span<const int>(kProbeCodes) : std::span<const int>(kApiCodes)));
  }
  routes_.push_back(make_route(registry, "none", "other", kNoRouteCodes));
}

ServerMetrics::RouteMetrics ServerMetrics::make_route(base::MetricsRegistry& registry, std::string_view route,
                                                      std::string_view method, std::span<const int> codes) {
  const auto counter = [&](std::string code) {
    return &registry.counter("http_requests_total", "Answers by route, method and status.",
                             {{"route", std::string(route)}, {"method", std::string(method)}, {"code", std::move(code)}});
  };
  RouteMetrics metrics;
  for (const int code : codes) metrics.by_code[code] = counter(std::to_string(code));
  metrics.other_code = counter("other");
  metrics.seconds = &registry.histogram("http_request_duration_seconds", "From a request's last byte to its answer's last byte.",
                                        latency_bounds(), {{"route", std::string(route)}, {"method", std::string(method)}});
  return metrics;
}

void ServerMetrics::count(size_t route, int status, double seconds) const {
  const RouteMetrics& metrics = route < routes_.size() ? routes_[route] : routes_.back();
  const auto found = metrics.by_code.find(status);
  (found == metrics.by_code.end() ? metrics.other_code : found->second)->add();
  metrics.seconds->observe(seconds);
}

}  // namespace camshaft::server
