// The route table: every path this server answers, who may use it, and what answers.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "server/http/exchange.h"
#include "server/http/message.h"

namespace camshaft::server {

class Service;

enum class Access : uint8_t {
  kOpen,  // probes and metrics: never behind a key
  kKeyed  // everything else: where keys are configured, one is needed
};

struct RouteCall {
  Service& service;
  http::Request& request;
  http::Exchange& exchange;
  size_t route = 0;         // index in the table
  std::string_view suffix;  // what stands for {id}
};

struct Route {
  std::string_view method;
  std::string_view path;  // may end in "{id}", which stands for the rest of the path
  Access access = Access::kKeyed;
  // The answer, or nothing when a job will give it.
  std::optional<http::Response> (*handle)(RouteCall& call) = nullptr;
};

std::span<const Route> route_table();

struct RouteMatch {
  const Route* route = nullptr;  // null: unknown path, or a method it does not have
  size_t index = 0;
  std::string_view suffix;
  std::string allow;  // of a known path: "GET, HEAD"
};
// HEAD finds the GET route.
RouteMatch find_route(std::string_view method, std::string_view path);

}  // namespace camshaft::server
