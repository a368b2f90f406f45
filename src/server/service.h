// Service: the application of one I/O loop. Owns the loop's event queue and its jobs; everything but the queue's push happens on
// the loop's thread.
#pragma once

#include <memory>
#include <random>
#include <unordered_map>
#include <vector>

#include "server/answer_format.h"
#include "server/http/exchange.h"
#include "server/job.h"
#include "server/routes.h"
#include "server/shared.h"

namespace camshaft::server {

class Service final : public http::Application {
 public:
  Service(Shared& shared, http::Poster post);

  void on_request(http::Request request, http::Exchange& exchange) override;
  http::Response refuse(const http::Refusal& refusal, const std::string& request_id) override;

  const Shared& shared() const { return shared_; }
  DecodeContext decode_context();
  using MakeFormat = std::unique_ptr<AnswerFormat> (*)(AnswerStart start);
  Status start_job(RouteCall& call, Call decoded, std::string_view id_prefix, MakeFormat make_format);
  // What the client is told; what it is not told is logged under the request's id.
  http::Response describe_error(const Status& status, std::string_view request_id) const;
  // Cancels every job. Their last events still come.
  void cancel_all();

 private:
  http::Response route_error(const RouteMatch& match) const;
  void drain_events();

  Shared& shared_;
  http::Poster post_;
  std::mt19937_64 random_;
  std::unordered_map<api::RequestId, std::unique_ptr<Job>> jobs_;
  executor::EventQueue events_;
};

}  // namespace camshaft::server
