// Mailbox: what other threads want of the executor's thread, bounded. A full mailbox is an answer, not a wait.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "executor/executor.h"

namespace camshaft::executor {

struct Arrival {
  api::Request request;
  EventQueue* events = nullptr;
};
struct CancelNote {
  api::RequestId id = 0;
  api::FinishReason reason = api::FinishReason::kAbort;
};
// Cancels belong behind the arrivals: a request is cancelled after it was posted.
struct Mail {
  std::vector<Arrival> arrivals;
  std::vector<CancelNote> cancels;
  std::optional<base::SteadyTime> drain_deadline;
  bool stop = false;
};

class Mailbox {
 public:
  struct Limits {
    int64_t requests = 0;  // waiting, here or in the scheduler
    int64_t tokens = 0;    // prompt tokens of those
  };
  explicit Mailbox(const Limits& limits) : limits_(limits) {}

  // Any thread. A refusal is unavailable, reason "draining", "queue_full" or "device_lost".
  enum class Answer : uint8_t { kTaken, kQueueFull, kQueueTokens, kDraining, kClosed };
  Answer post(Arrival arrival);
  Status refusal(Answer answer) const;
  bool closed() const;
  void post(const CancelNote& cancel);
  void stop();
  // Takes no more requests; returns when all that were taken have ended.
  void drain(base::SteadyTime deadline);

  // The executor's thread.
  enum class Wait : uint8_t { kNo, kForMail };
  void take(Wait wait, Mail& mail);
  // After each step: what waits in the scheduler, and how many requests ended since the last report (their events are out).
  void report(int64_t waiting, int64_t waiting_tokens, int64_t ended);
  // The device is lost: nothing is taken any longer.
  void close(Status why);

 private:
  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable mail_there_;
  std::condition_variable all_ended_;
  Mail mail_;
  bool news_ = false;    // something changed since the last take()
  int64_t waiting_ = 0;  // here and in the scheduler
  int64_t waiting_tokens_ = 0;
  int64_t not_ended_ = 0;
  bool draining_ = false;
  Status closed_;  // not ok once closed
};

}  // namespace camshaft::executor
