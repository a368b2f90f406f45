// Health, version and metrics: open, cheap, and answered also while the server drains.
#include "server/endpoints.h"
#include "server/errors.h"
#include "server/service.h"

namespace camshaft::server {

namespace {

// The first model that is lost or hangs.
Status health(const Shared& shared) {
  for (const generation::ModelEntry* model : shared.models) CS_RETURN_IF_ERROR(model->executor->stats().health);
  return base::ok_status();
}

}  // namespace

// Draining is alive: who restarts on this probe would cut the running requests.
std::optional<http::Response> get_alive(RouteCall& call) {
  const Status status = health(call.service.shared());
  return status.ok() ? http::Response{} : error_response(status);
}

std::optional<http::Response> get_ready(RouteCall& call) {
  if (!call.service.shared().draining) return get_alive(call);
  http::Response response;
  response.status = 503;
  response.headers.push_back({"Retry-After", "1"});
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
