// The executor's thread: take mail, plan, submit, wait, publish; asleep when there is nothing to do.
#include "executor/batching_executor.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "executor/executor_metrics.h"
#include "executor/mailbox.h"
#include "executor/scheduler.h"

namespace camshaft::executor {
namespace {

using api::FinishReason;
using Rejection = ExecutorMetrics::Rejection;

// Events by consumer; each gets its events of a step in one push.
class Publisher {
 public:
  // Returns how many requests ended.
  int64_t publish(std::vector<Outgoing>& outgoing) {
    int64_t ended = 0;
    for (Outgoing& out : outgoing) {
      if (out.event.finish != FinishReason::kNone) ++ended;
      group(out.to).push_back(std::move(out.event));
    }
    outgoing.clear();
    for (auto& [queue, events] : groups_) queue->push(std::move(events));
    groups_.clear();
    return ended;
  }

 private:
  std::vector<api::TokenEvent>& group(EventQueue* queue) {
    for (auto& [known, events] : groups_) {
      if (known == queue) return events;
    }
    return groups_.emplace_back(queue, std::vector<api::TokenEvent>()).second;
  }
  std::vector<std::pair<EventQueue*, std::vector<api::TokenEvent>>> groups_;  // as many as there are I/O threads
};

class BatchingExecutor final : public Executor {
 public:
  BatchingExecutor(std::unique_ptr<runtime::ModelRunner> runner, const ExecutorOptions& options, const base::Clock& clock,
                   base::MetricsRegistry& registry)
      : limits_(limits_of(runner->limits())),
        step_timeout_s_(options.step_timeout_s),
        clock_(clock),
        runner_(std::move(runner)),
        metrics_(registry, options.model_name, limits_.max_seq_len),
        mailbox_({.requests = options.max_queued_requests, .tokens = options.max_queued_tokens}),
        scheduler_(runner_->limits(), options.prefill_chunk, metrics_) {
    show_load();
    thread_ = std::thread([this] { run(); });
  }

  ~BatchingExecutor() override {
    mailbox_.stop();
    thread_.join();
  }

  const ExecutorLimits& limits() const override { return limits_; }
  Status submit(api::Request request, EventQueue& events) override;
  void cancel(api::RequestId id, FinishReason reason) override { mailbox_.post(CancelNote{id, reason}); }
  void drain(base::SteadyTime deadline) override { mailbox_.drain(deadline); }
  ExecutorStats stats() const override {
    std::unique_lock lock(stats_mutex_);
    ExecutorStats out = stats_;
    lock.unlock();
    out.health = health();
    return out;
  }

 private:
  static ExecutorLimits limits_of(const runtime::RunnerLimits& limits) {
    const int32_t capacity = sequence_capacity(limits);
    return {.max_seq_len = capacity, .max_prompt_tokens = capacity - 1, .vocab = limits.vocab};
  }

  Status check(const api::Request& request);
  Status health() const;
  void run();
  void accept(Mail& mail);
  void step();
  void lose_device(const Status& why);
  void publish();
  void show_load();

  const ExecutorLimits limits_;
  const double step_timeout_s_;
  const base::Clock& clock_;
  const std::unique_ptr<runtime::ModelRunner> runner_;  // used by the thread only, but for its constant limits
  ExecutorMetrics metrics_;
  Mailbox mailbox_;

  mutable std::mutex stats_mutex_;
  ExecutorStats stats_;

  // Ticks of the clock; 0: the thread sleeps. Written by the thread each time around its loop, so it tells of any halt in it.
  std::atomic<base::SteadyTime::rep> busy_since_{0};
  mutable std::atomic<base::SteadyTime::rep> logged_halt_{0};  // the busy_since_ that was complained of

  // The thread's own.
  Scheduler scheduler_;
  Publisher publisher_;
  Status lost_;  // not ok once the device is lost

  std::thread thread_;
};

Status BatchingExecutor::check(const api::Request& request) {
  const auto length = static_cast<int64_t>(request.prompt.size());
  if (length == 0) return base::invalid_argument("the prompt has no tokens").with_subject("prompt");
  if (length > limits_.max_prompt_tokens) {
    metrics_.count_rejection(Rejection::kTooLong);
    return base::invalid_argument(
               format("the prompt has {} tokens, but the context holds {} and the answer needs at least one of them; shorten it",
                      length, limits_.max_seq_len))
        .with_subject("prompt")
        .with_reason("context_length_exceeded");
  }
  for (const int32_t id : request.prompt) {
    if (id >= 0 && id < limits_.vocab) continue;
    return base::invalid_argument(format("token id {} is outside the vocabulary of {}", id, limits_.vocab)).with_subject("prompt");
  }
  if (request.stop.max_tokens >= 1) return base::ok_status();
  return base::invalid_argument(format("max_tokens is {}, the least is 1", request.stop.max_tokens)).with_subject("max_tokens");
}

// There is no watching thread: whoever asks (a probe, a request, the process's main thread) finds out, and the first of them logs.
Status BatchingExecutor::health() const {
  if (mailbox_.closed()) return mailbox_.refusal(Mailbox::Answer::kClosed);
  const base::SteadyTime::rep since = busy_since_.load(std::memory_order_relaxed);
  const double seconds = base::seconds_between(base::SteadyTime(base::SteadyTime::duration(since)), clock_.now());
  if (since == 0 || seconds <= step_timeout_s_) return base::ok_status();
  std::string message = format("a step has been running for {:.1f} s, the limit is {:.1f}", seconds, step_timeout_s_);
  if (logged_halt_.exchange(since) != since)
    base::log_error(
        "{}; no request is taken until it ends. Where steps are long by nature raise --step-timeout or lower --prefill-chunk",
        message);
  return base::unavailable(std::move(message)).with_reason("step_stuck");
}

Status BatchingExecutor::submit(api::Request request, EventQueue& events) {
  CS_RETURN_IF_ERROR(check(request));
  CS_RETURN_IF_ERROR(health());
  if (request.arrival == base::SteadyTime()) request.arrival = clock_.now();
  const Mailbox::Answer answer = mailbox_.post(Arrival{std::move(request), &events});
  switch (answer) {
    case Mailbox::Answer::kQueueFull: metrics_.count_rejection(Rejection::kQueueFull); break;
    case Mailbox::Answer::kQueueTokens: metrics_.count_rejection(Rejection::kQueueTokens); break;
    case Mailbox::Answer::kDraining: metrics_.count_rejection(Rejection::kDraining); break;
    case Mailbox::Answer::kTaken:
    case Mailbox::Answer::kClosed: break;
  }
  return mailbox_.refusal(answer);
}

void BatchingExecutor::run() {
  Mail mail;
  while (true) {
    if (scheduler_.empty()) busy_since_.store(0, std::memory_order_relaxed);
    mailbox_.take(scheduler_.empty() ? Mailbox::Wait::kForMail : Mailbox::Wait::kNo, mail);
    busy_since_.store(clock_.now().time_since_epoch().count(), std::memory_order_relaxed);
    accept(mail);
    if (!lost_.ok()) scheduler_.end_all(FinishReason::kError, lost_, clock_.now());
    if (mail.stop) break;
    step();
    publish();
  }
  scheduler_.end_all(FinishReason::kAbort, base::ok_status(), clock_.now());
  publish();
}

void BatchingExecutor::accept(Mail& mail) {
  for (Arrival& arrival : mail.arrivals) scheduler_.add(std::move(arrival.request), *arrival.events);
  const base::SteadyTime now = clock_.now();
  for (const CancelNote& cancel : mail.cancels) scheduler_.cancel(cancel.id, cancel.reason, now);
  scheduler_.expire(now);
  if (mail.drain_deadline && *mail.drain_deadline <= now) scheduler_.end_all(FinishReason::kAbort, base::ok_status(), now);
}

void BatchingExecutor::step() {
  const base::SteadyTime begin = clock_.now();
  const runtime::Batch* batch = scheduler_.plan(begin);
  if (batch == nullptr) return;
  publish();  // a long step holds back neither the ends of cancelled requests nor the places of admitted ones
  Result<runtime::Ticket> ticket = runner_->submit(*batch);
  if (!ticket.ok()) return lose_device(ticket.status());
  Result<std::vector<runtime::SampledToken>> results = runner_->wait(*ticket);
  if (!results.ok()) return lose_device(results.status());
  const base::SteadyTime now = clock_.now();
  const Status applied = scheduler_.apply(std::move(*results), now);
  if (!applied.ok()) return lose_device(applied);
  metrics_.observe_step(scheduler_.shape(), base::seconds_between(begin, now));
#ifdef CAMSHAFT_VERIFY
  const Status kept = check_invariants(scheduler_.snapshot());
  CS_CHECK(kept.ok(), kept.message());
#endif
}

void BatchingExecutor::lose_device(const Status& why) {
  base::log_error("the executor stops, its device failed: {}", why.to_string());
  lost_ = why;
  mailbox_.close(why);
  scheduler_.abandon();
  scheduler_.end_all(FinishReason::kError, why, clock_.now());
}

// In this order: who sees a request's last event finds its blocks free, and who waits for the last end finds all events out.
void BatchingExecutor::publish() {
  show_load();
  const int64_t ended = publisher_.publish(scheduler_.outgoing());
  mailbox_.report(scheduler_.stats().waiting, scheduler_.waiting_tokens(), ended);
}

void BatchingExecutor::show_load() {
  const ExecutorStats now = scheduler_.stats();
  metrics_.set_load(now);
  const std::lock_guard lock(stats_mutex_);
  stats_ = now;
}

Status check_limits(const runtime::RunnerLimits& limits, const ExecutorOptions& options) {
  const std::pair<const char*, int64_t> at_least_one[] = {{"the number of cache blocks", limits.num_blocks},
                                                          {"the tokens of a cache block", limits.block_tokens},
                                                          {"the number of sequence slots", limits.max_seqs},
                                                          {"the rows of a step", limits.max_batch_tokens},
                                                          {"the vocabulary", limits.vocab},
                                                          {"prefill_chunk", options.prefill_chunk},
                                                          {"max_queued_requests", options.max_queued_requests},
                                                          {"max_queued_tokens", options.max_queued_tokens}};
  for (const auto& [name, value] : at_least_one) {
    if (value < 1) return base::invalid_argument(format("{} is {}, the least is 1", name, value));
  }
  if (sequence_capacity(limits) >= 2) return base::ok_status();
  return base::invalid_argument(format("a sequence can have {} positions, the least is 2", sequence_capacity(limits)));
}

}  // namespace

Result<std::unique_ptr<Executor>> start_executor(std::unique_ptr<runtime::ModelRunner> runner, const ExecutorOptions& options,
                                                 const base::Clock& clock, base::MetricsRegistry& metrics) {
  CS_RETURN_IF_ERROR(check_limits(runner->limits(), options));
  return std::unique_ptr<Executor>(std::make_unique<BatchingExecutor>(std::move(runner), options, clock, metrics));
}

}  // namespace camshaft::executor
