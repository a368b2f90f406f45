#include "server/service.h"

#include <ctime>
#include <utility>

#include "base/format.h"
#include "base/hash.h"
#include "base/log.h"
#include "server/errors.h"

namespace camshaft::server {
namespace {

std::mt19937_64 seeded_random() {
  std::random_device device;
  std::seed_seq seed{device(), device(), device(), device()};
  return std::mt19937_64(seed);
}

// Changes when another engine answers under the same name.
std::string fingerprint_of(const generation::ModelEntry& model) {
  base::Hasher hasher;
  hasher.update(
      format("{} {} {} {}", model.name, model.created_unix, model.executor->limits().vocab, model.executor->limits().max_seq_len));
  return "fp_" + hasher.digest().to_hex().substr(0, 10);
}

AnswerStart answer_start(const Call& call, std::string id) {
  AnswerStart start;
  start.head = {std::move(id), call.model->name, fingerprint_of(*call.model), static_cast<int64_t>(std::time(nullptr))};
  start.stream = call.stream;
  start.include_usage = call.include_usage;
  start.continuous_usage = call.continuous_usage;
  start.return_token_ids = call.return_token_ids;
  start.tokens_as_ids = call.tokens_as_ids;
  start.logprobs = call.request.sampling.logprobs >= 0;
  return start;
}

base::SteadyTime later(base::SteadyTime from, double seconds) {
  return from + std::chrono::duration_cast<base::SteadyTime::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

// The queue's signal posts one drain for all events that have gathered until it runs.
Service::Service(Shared& shared, http::Poster post)
    : shared_(shared), post_(std::move(post)), random_(seeded_random()), events_([this] { post_([this] { drain_events(); }); }) {}

void Service::on_request(http::Request request, http::Exchange& exchange) {
  const RouteMatch match = find_route(request.method, request.path);
  RouteCall call{*this, request, exchange, match.route != nullptr ? match.index : ServerMetrics::kNoRoute, match.suffix};
  std::optional<http::Response> response = match.route != nullptr ? match.route->handle(call) : route_error(match);
  if (!response) return;
  shared_.metrics.count(call.route, response->status, base::seconds_between(request.arrival, base::steady_clock().now()));
  exchange.respond(std::move(*response));
}

http::Response Service::refuse(const http::Refusal& refusal, const std::string&) {
  shared_.metrics.count(ServerMetrics::kNoRoute, refusal.status, 0);
  return error_response(refusal);
}

http::Response Service::route_error(const RouteMatch& match) const {
  if (match.allow.empty()) return error_response(base::not_found("there is no such route here"));
  http::Response response = error_response(
      base::invalid_argument("the route does not have this method; see Allow").with_reason(std::string(kMethodNotAllowed)));
  response.headers.push_back({"Allow", match.allow});
  return response;
}

http::Response Service::describe_error(const Status& status, std::string_view request_id) const {
  http::Response response = error_response(status);
  if (response.status == 500) base::log_error("request {}: {}", request_id, status.to_string());
  return response;
}

DecodeContext Service::decode_context() {
  const auto log_once = [this](std::string_view name) {
    if (shared_.unknown_fields.add(name)) base::log_info("request field '{}' is not known here and is ignored", name);
  };
  return {shared_.models, shared_.options.strict_requests, random_(), log_once};
}

Status Service::start_job(RouteCall& call, Call decoded, std::string_view id_prefix, MakeFormat make_format) {
  if (shared_.draining) return base::unavailable("the server is shutting down").with_reason("draining");
  const base::SteadyTime deadline = later(call.request.arrival, shared_.options.request_timeout_s);
  decoded.request.id = ++shared_.last_request_id;
  decoded.request.deadline = deadline;
  AnswerStart start = answer_start(decoded, std::string(id_prefix) + call.request.id);
  auto generation = generation::Generation::start(*decoded.model, std::move(decoded.request), events_);
  if (!generation.ok()) return generation.status();
  if (start.return_token_ids) start.prompt_ids = (*generation)->prompt_ids();
  const api::RequestId id = (*generation)->id();
  JobStart job{&call.exchange, std::move(*generation), make_format(std::move(start)), call.request.id,
               call.route,     decoded.stream,         call.request.arrival,          deadline};
  jobs_.emplace(id, std::make_unique<Job>(std::move(job), shared_));
  return base::ok_status();
}

// Each job sees its events in order; each connection is written once a round.
void Service::drain_events() {
  std::vector<api::RequestId> touched;
  for (const api::TokenEvent& event : events_.take()) {
    const auto found = jobs_.find(event.request);
    if (found == jobs_.end()) continue;
    found->second->on_event(event);
    if (touched.empty() || touched.back() != event.request) touched.push_back(event.request);
  }
  for (const api::RequestId id : touched) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) continue;  // touched twice, ended
    found->second->flush();
    if (found->second->ended()) jobs_.erase(found);
  }
}

void Service::cancel_all() {
  for (const auto& [id, job] : jobs_) job->cancel();
}

}  // namespace camshaft::server
