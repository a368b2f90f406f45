// Executor: in-flight batching. Requests in by value through a bounded queue, token events out through the consumer's one queue.
// Abstract, so that the server can be tested with a fake one. The narrow door: api and base only.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "api/request.h"
#include "base/status.h"

namespace camshaft::executor {

// Events of many requests to one consumer thread. push() is the executor's, take()/wait() the consumer's.
// The queue must outlive its requests: the consumer cancels and sees the last event of each before it goes.
class EventQueue {
 public:
  // `on_ready` is called by the executor's thread when the queue stops being empty; it must be quick and must not call back.
  explicit EventQueue(std::function<void()> on_ready = {}) : on_ready_(std::move(on_ready)) {}
  void push(std::vector<api::TokenEvent> events);
  // All that is there, perhaps nothing.
  std::vector<api::TokenEvent> take();
  // Blocks until there is something.
  std::vector<api::TokenEvent> wait();

 private:
  std::mutex mutex_;
  std::condition_variable ready_;
  std::vector<api::TokenEvent> events_;
  std::function<void()> on_ready_;
};

// A snapshot for health, metrics and tests.
struct ExecutorStats {
  int64_t waiting = 0;
  int64_t running = 0;
  int64_t blocks_total = 0;
  int64_t blocks_used = 0;
  int64_t preemptions = 0;
  int64_t steps = 0;
  // Not ok, unavailable: the device is lost (reason "device_lost", for good) or a step runs longer than it may ("step_stuck",
  // until it ends). A fixed sentence, fit for clients.
  Status health;
};

struct ExecutorLimits {
  int32_t max_seq_len = 0;        // prompt and output together
  int32_t max_prompt_tokens = 0;  // that the cache can hold for one sequence at all
  int32_t vocab = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual const ExecutorLimits& limits() const = 0;

  // Any thread. Refusals at once: invalid_argument (prompt empty, ids out of range, or longer than limits, reason
  // "context_length_exceeded" with both numbers), unavailable (reason "queue_full", "draining", or that of the health). max_tokens
  // is cut to what fits behind the prompt. After ok, events arrive in `events` until exactly one with finish != kNone.
  virtual Status submit(api::Request request, EventQueue& events) = 0;

  // Any thread; returns at once; unknown or finished ids are ignored. The sequence ends at the next step's border with an event
  // of `reason`: kAbort (client gone, deadline) or kStop (a stop string was seen; tokens beyond keep_tokens are not counted).
  virtual void cancel(api::RequestId id, api::FinishReason reason) = 0;

  // Refuses new requests from now on; returns when all admitted ones ended or the deadline passed (the rest is then aborted).
  virtual void drain(base::SteadyTime deadline) = 0;
  virtual ExecutorStats stats() const = 0;
};

}  // namespace camshaft::executor
