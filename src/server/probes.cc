// Health, version and metrics: open, cheap, and answered also while the server drains.
#include "server/endpoints.h"
#include "server/service.h"

namespace camshaft::server {

std::optional<http::Response> get_alive(RouteCall&) { return http::Response{}; }

std::optional<http::Response> get_ready(RouteCall& call) {
  http::Response response;
  if (call.service.shared().draining) {
    response.status = 503;
    response.headers.push_back({"Retry-After", "1"});
  }
  return response;
}

std::optional<http::Response> get_version(RouteCall& call) {
  Json body(base::JsonObject{});
  body.set("version", call.service.shared().options.version);
  return http::Response{200, "application/json", body.dump(), {}};
}

std::optional<http::Response> get_metrics(RouteCall& call) {
  return http::Response{200, "text/plain; version=0.0.4; charset=utf-8", call.service.shared().registry.expose(), {}};
}

}  // namespace camshaft::server
