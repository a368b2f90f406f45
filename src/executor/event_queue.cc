// EventQueue: the one way back from the executor's thread to a consumer.
#include <iterator>

#include "executor/executor.h"

namespace camshaft::executor {

// All of it under the lock: a consumer that took the last event may destroy the queue at once, and must find push() gone.
void EventQueue::push(std::vector<api::TokenEvent> events) {
  if (events.empty()) return;
  const std::lock_guard lock(mutex_);
  const bool was_empty = events_.empty();
  if (was_empty) {
    events_ = std::move(events);
  } else {
    events_.insert(events_.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  }
  if (!was_empty) return;
  ready_.notify_one();
  if (on_ready_) on_ready_();
}

std::vector<api::TokenEvent> EventQueue::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(events_, {});
}

std::vector<api::TokenEvent> EventQueue::wait() {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [this] { return !events_.empty(); });
  return std::exchange(events_, {});
}

}  // namespace camshaft::executor
