// FakeExecutor: replays token ids that a test wrote down, at once or when the test says so. Any thread may call everything.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/executor.h"

namespace camshaft::server {

inline std::vector<api::TokenEvent> events_of(std::string_view text, api::FinishReason finish, int32_t end_token = -1) {
  std::vector<api::TokenEvent> events;
  for (const char c : text) {
    api::TokenEvent event;
    event.token = static_cast<unsigned char>(c);
    events.push_back(event);
  }
  if (end_token >= 0 || events.empty()) {
    api::TokenEvent event;
    event.token = event.stop_id = end_token;
    events.push_back(event);
  }
  events.back().finish = finish;
  return events;
}

class FakeExecutor final : public executor::Executor {
 public:
  // Gives the events of a request at once; none: the test emits them by hand.
  using Script = std::function<std::vector<api::TokenEvent>(const api::Request& request)>;

  FakeExecutor() {
    limits_.max_seq_len = 4096;
    limits_.max_prompt_tokens = 4096;
    limits_.vocab = 267;
  }

  void set_script(Script script) {
    const std::lock_guard lock(mutex_);
    script_ = std::move(script);
  }
  void refuse_next(Status status) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(status);
  }

  const executor::ExecutorLimits& limits() const override { return limits_; }

  Status submit(api::Request request, executor::EventQueue& events) override {
    const std::lock_guard lock(mutex_);
    if (!refusal_.ok()) return std::exchange(refusal_, Status());
    if (draining_) return base::unavailable("draining").with_reason("draining");
    if (static_cast<int32_t>(request.prompt.size()) >= limits_.max_seq_len) {
      return base::invalid_argument("the prompt has 5000 tokens, the context 4096").with_reason("context_length_exceeded");
    }
    requests_.push_back(request);
    live_[request.id] = &events;
    changed_.notify_all();
    if (!script_) return base::ok_status();
    std::vector<api::TokenEvent> replay = script_(request);
    for (api::TokenEvent& event : replay) event.request = request.id;
    live_.erase(request.id);
    events.push(std::move(replay));
    return base::ok_status();
  }

  void cancel(api::RequestId id, api::FinishReason reason) override {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(id);
    if (found == live_.end()) return;
    end(found, reason);
    cancelled_.emplace_back(id, reason);
    changed_.notify_all();
  }

  void drain(base::SteadyTime deadline) override {
    std::unique_lock lock(mutex_);
    draining_ = true;
    changed_.wait_until(lock, deadline, [this] { return live_.empty(); });
    while (!live_.empty()) end(live_.begin(), api::FinishReason::kAbort);
  }

  executor::ExecutorStats stats() const override {
    const std::lock_guard lock(mutex_);
    return {.health = health_};
  }
  void set_health(Status health) {
    const std::lock_guard lock(mutex_);
    health_ = std::move(health);
  }

  // --- for tests that emit by hand ---

  // Waits for the n-th request of all and gives it.
  api::Request wait_request(size_t n) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() > n; });
    return requests_[n];
  }
  // False where the request has ended.
  bool emit(api::RequestId id, std::vector<api::TokenEvent> events) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(id);
    if (found == live_.end()) return false;
    const bool last = events.back().finish != api::FinishReason::kNone;
    for (api::TokenEvent& event : events) event.request = id;
    executor::EventQueue* queue = found->second;
    if (last) live_.erase(found);
    queue->push(std::move(events));
    if (last) changed_.notify_all();
    return true;
  }
  bool emit_text(api::RequestId id, std::string_view text) { return emit(id, events_of(text, api::FinishReason::kNone)); }
  api::FinishReason wait_cancelled(api::RequestId id) {
    std::unique_lock lock(mutex_);
    api::FinishReason reason = api::FinishReason::kNone;
    changed_.wait(lock, [&] {
      for (const auto& [one, why] : cancelled_) {
        if (one == id) reason = why;
      }
      return reason != api::FinishReason::kNone;
    });
    return reason;
  }

 private:
  using Live = std::map<api::RequestId, executor::EventQueue*>;
  void end(Live::iterator found, api::FinishReason reason) {
    api::TokenEvent event;
    event.request = found->first;
    event.finish = reason;
    executor::EventQueue* queue = found->second;
    live_.erase(found);
    queue->push({event});
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  executor::ExecutorLimits limits_;
  Script script_;
  Status refusal_;
  Status health_;
  bool draining_ = false;
  std::vector<api::Request> requests_;
  Live live_;
  std::vector<std::pair<api::RequestId, api::FinishReason>> cancelled_;
};

}  // namespace camshaft::server
