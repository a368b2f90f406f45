// The bounded way into the executor's thread.
#include "executor/mailbox.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace camshaft::executor {

Mailbox::Answer Mailbox::post(Arrival arrival) {
  const std::lock_guard lock(mutex_);
  const auto tokens = static_cast<int64_t>(arrival.request.prompt.size());
  if (!closed_.ok()) return Answer::kClosed;
  if (draining_) return Answer::kDraining;
  if (waiting_ >= limits_.requests) return Answer::kQueueFull;
  // An empty queue takes any prompt that the model takes.
  if (waiting_ > 0 && waiting_tokens_ + tokens > limits_.tokens) return Answer::kQueueTokens;
  ++waiting_;
  ++not_ended_;
  waiting_tokens_ += tokens;
  mail_.arrivals.push_back(std::move(arrival));
  news_ = true;
  mail_there_.notify_one();
  return Answer::kTaken;
}

Status Mailbox::refusal(Answer answer) const {
  const std::lock_guard lock(mutex_);
  switch (answer) {
    case Answer::kTaken: break;
    case Answer::kQueueFull:
      return base::unavailable(
                 format("the queue is full: {} requests wait, the limit is {}; try again later", waiting_, limits_.requests))
          .with_reason("queue_full");
    case Answer::kQueueTokens:
      return base::unavailable(format("the queue is full: {} prompt tokens wait, the limit is {}; try again later", waiting_tokens_,
                                      limits_.tokens))
          .with_reason("queue_full");
    case Answer::kDraining:
      return base::unavailable("the server is shutting down and takes no new requests").with_reason("draining");
    case Answer::kClosed:
      return base::unavailable("the model has stopped after a failure of its device; the log has more").with_reason("device_lost");
  }
  return base::ok_status();
}

bool Mailbox::closed() const {
  const std::lock_guard lock(mutex_);
  return !closed_.ok();
}

void Mailbox::post(const CancelNote& cancel) {
  const std::lock_guard lock(mutex_);
  if (not_ended_ == 0) return;
  mail_.cancels.push_back(cancel);
  news_ = true;
  mail_there_.notify_one();
}

void Mailbox::stop() {
  const std::lock_guard lock(mutex_);
  draining_ = true;
  mail_.stop = true;
  news_ = true;
  mail_there_.notify_one();
}

void Mailbox::drain(base::SteadyTime deadline) {
  std::unique_lock lock(mutex_);
  draining_ = true;
  mail_.drain_deadline = std::min(deadline, mail_.drain_deadline.value_or(deadline));
  news_ = true;
  mail_there_.notify_one();
  all_ended_.wait(lock, [this] { return not_ended_ == 0; });
}

void Mailbox::take(Wait wait, Mail& mail) {
  mail.arrivals.clear();
  mail.cancels.clear();
  std::unique_lock lock(mutex_);
  if (wait == Wait::kForMail) mail_there_.wait(lock, [this] { return news_; });
  news_ = false;
  std::swap(mail.arrivals, mail_.arrivals);
  std::swap(mail.cancels, mail_.cancels);
  mail.drain_deadline = mail_.drain_deadline;
  mail.stop = mail_.stop;
}

void Mailbox::report(int64_t waiting, int64_t waiting_tokens, int64_t ended) {
  const std::lock_guard lock(mutex_);
  waiting_ = waiting + static_cast<int64_t>(mail_.arrivals.size());
  waiting_tokens_ = waiting_tokens;
  for (const Arrival& arrival : mail_.arrivals) waiting_tokens_ += static_cast<int64_t>(arrival.request.prompt.size());
  not_ended_ -= ended;
  if (not_ended_ == 0) all_ended_.notify_all();
}

void Mailbox::close(Status why) {
  const std::lock_guard lock(mutex_);
  closed_ = std::move(why);
}

}  // namespace camshaft::executor
