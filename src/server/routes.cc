#include "server/routes.h"

#include "server/endpoints.h"

namespace camshaft::server {
namespace {

constexpr Route kRoutes[] = {
    {"POST", "/v1/chat/completions", Access::kKeyed, post_chat_completions},
    {"POST", "/v1/completions", Access::kKeyed, post_completions},
    {"POST", "/generate", Access::kKeyed, post_generate},
    {"GET", "/v1/models", Access::kKeyed, get_models},
    {"GET", "/v1/models/{id}", Access::kKeyed, get_model},
    {"GET", "/health", Access::kOpen, get_alive},
    {"GET", "/healthz", Access::kOpen, get_alive},
    {"GET", "/livez", Access::kOpen, get_alive},
    {"GET", "/ping", Access::kOpen, get_alive},
    {"GET", "/v1/health", Access::kOpen, get_alive},
    {"GET", "/readyz", Access::kOpen, get_ready},
    {"GET", "/ready", Access::kOpen, get_ready},
    {"GET", "/version", Access::kOpen, get_version},
    {"GET", "/metrics", Access::kOpen, get_metrics},
};

constexpr std::string_view kId = "{id}";

bool matches(const Route& route, std::string_view path, std::string_view& suffix) {
  if (!route.path.ends_with(kId)) return route.path == path;
  const std::string_view prefix = route.path.substr(0, route.path.size() - kId.size());
  if (!path.starts_with(prefix) || path.size() == prefix.size()) return false;
  suffix = path.substr(prefix.size());
  return true;
}

}  // namespace

std::span<const Route> route_table() { return kRoutes; }

RouteMatch find_route(std::string_view method, std::string_view path) {
  RouteMatch match;
  for (size_t i = 0; i < std::size(kRoutes); ++i) {
    std::string_view suffix;
    if (!matches(kRoutes[i], path, suffix)) continue;
    const bool get = kRoutes[i].method == "GET";
    if (kRoutes[i].method == method || (get && method == "HEAD")) return {&kRoutes[i], i, suffix, ""};
    match.allow.append(match.allow.empty() ? "" : ", ").append(kRoutes[i].method).append(get ? ", HEAD" : "");
  }
  return match;
}

}  // namespace camshaft::server
