#include "server/job.h"

#include <utility>

#include "base/log.h"
#include "server/errors.h"

namespace camshaft::server {
namespace {

constexpr int kClientGone = 499;  // in the metrics only: nobody is there to read it

}  // namespace

Job::Job(JobStart start, Shared& shared) : start_(std::move(start)), shared_(shared) {
  shared_.jobs.add();
  start_.exchange->set_owner(this);
  if (start_.stream) start_.exchange->begin_stream();
}

Job::~Job() { shared_.jobs.remove(); }

void Job::on_event(const api::TokenEvent& event) {
  const generation::Piece piece = start_.generation->on_event(event);
  if (start_.exchange == nullptr) return;
  if (piece.finish == api::FinishReason::kError) return fail(piece.error);
  if (piece.finish == api::FinishReason::kAbort) return fail(abort_status());
  start_.format->add(piece, events_);
  if (piece.finish != api::FinishReason::kNone) finish();
}

void Job::flush() {
  if (start_.exchange == nullptr || events_.empty()) return;
  start_.exchange->append(std::exchange(events_, {}));
  start_.exchange->flush();  // may end in on_gone()
}

void Job::finish() {
  http::Exchange& exchange = *std::exchange(start_.exchange, nullptr);
  start_.format->finish(events_);
  count(200);
  if (start_.stream) {
    exchange.append(events_);
    exchange.end_stream();
  } else {
    exchange.respond({200, "application/json", std::move(events_), {}});
  }
}

// Before the first byte an error has its own status; behind it, it is an event.
void Job::fail(const Status& status) {
  http::Exchange& exchange = *std::exchange(start_.exchange, nullptr);
  http::Response response = error_response(status);
  if (response.status == 500) base::log_error("request {}: {}", start_.http_id, status.to_string());
  const bool begun = start_.stream && (exchange.head_sent() || !events_.empty());
  count(begun ? 200 : response.status);
  if (!begun) return exchange.respond(std::move(response));
  exchange.append(events_ + "data: " + response.body + "\n\n");
  exchange.append(kDoneEvent);
  exchange.end_stream();
}

// An abort that the client did not ask for.
Status Job::abort_status() const {
  if (base::steady_clock().now() >= start_.deadline) {
    return {Code::kDeadlineExceeded, "the request took longer than this server allows"};
  }
  return base::unavailable("the server is shutting down").with_reason("draining");
}

void Job::on_gone() {
  start_.exchange = nullptr;
  events_.clear();
  count(kClientGone);
  cancel();
}

void Job::cancel() { start_.generation->cancel(); }

void Job::count(int status) const {
  shared_.metrics.count(start_.route, status, base::seconds_between(start_.arrival, base::steady_clock().now()));
}

}  // namespace camshaft::server
