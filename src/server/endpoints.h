// What the route table calls. Each gives its answer, or nothing when it started a job that will.
#pragma once

#include <optional>

#include "server/routes.h"

namespace camshaft::server {

std::optional<http::Response> post_chat_completions(RouteCall& call);
std::optional<http::Response> post_completions(RouteCall& call);
std::optional<http::Response> post_generate(RouteCall& call);

std::optional<http::Response> get_models(RouteCall& call);
std::optional<http::Response> get_model(RouteCall& call);

std::optional<http::Response> get_alive(RouteCall& call);
std::optional<http::Response> get_ready(RouteCall& call);
std::optional<http::Response> get_version(RouteCall& call);
std::optional<http::Response> get_metrics(RouteCall& call);

}  // namespace camshaft::server
