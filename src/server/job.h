// Job: one generation and the exchange that waits for it. Owned by its loop's service; lives until the executor's last event, also
// when the client is gone before.
#pragma once

#include <memory>
#include <string>

#include "server/answer_format.h"
#include "server/http/exchange.h"
#include "server/shared.h"

namespace camshaft::server {

struct JobStart {
  http::Exchange* exchange = nullptr;
  std::unique_ptr<generation::Generation> generation;
  std::unique_ptr<AnswerFormat> format;
  std::string http_id;  // for the log
  size_t route = 0;     // index in the route table
  bool stream = false;
  base::SteadyTime arrival;
  base::SteadyTime deadline;
};

class Job final : public http::ExchangeOwner {
 public:
  Job(JobStart start, Shared& shared);
  ~Job() override;

  void on_event(const api::TokenEvent& event);
  // Sends what the events of one round gave.
  void flush();
  void on_gone() override;
  void cancel();
  bool ended() const { return start_.generation->ended(); }

 private:
  void finish();
  void fail(const Status& status);
  Status abort_status() const;
  void count(int status) const;

  JobStart start_;
  Shared& shared_;
  std::string events_;  // of this round
};

}  // namespace camshaft::server
