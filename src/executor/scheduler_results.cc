// From a step's results to events, and every way a sequence ends.
#include <algorithm>

#include "base/format.h"
#include "executor/scheduler.h"

namespace camshaft::executor {

using api::FinishReason;

Status Scheduler::apply(std::vector<runtime::SampledToken> results, base::SteadyTime now) {
  take_tables_back();
  size_t next = 0;
  for (size_t i = 0; i < in_flight_.size(); ++i) {
    Sequence& sequence = *in_flight_[i];
    sequence.computed += sequence.rows;
    sequence.rows = 0;
    if (!batch_.sequences[i].sample) continue;
    if (next == results.size() || results[next].slot != sequence.slot) {
      return base::internal_error(
          format("the runner's result {} of {} is not that of slot {}", next, results.size(), sequence.slot));
    }
    accept(sequence, std::move(results[next++]), now);
  }
  if (next == results.size()) return base::ok_status();
  return base::internal_error(format("the runner gave {} results for {} sequences that sample", results.size(), next));
}

void Scheduler::abandon() { take_tables_back(); }

void Scheduler::take_tables_back() {
  for (size_t i = 0; i < in_flight_.size(); ++i) in_flight_[i]->blocks.swap(batch_.sequences[i].blocks);
}

void Scheduler::accept(Sequence& sequence, runtime::SampledToken result, base::SteadyTime now) {
  api::TokenEvent event{.request = sequence.id};
  if (!result.error.ok()) {
    event.finish = FinishReason::kError;
    event.error = std::move(result.error);
    return end(sequence, std::move(event), now);
  }
  observe_token(sequence, now);
  sequence.tokens.push_back(result.token);
  event.token = result.token;
  if (sequence.sampling.logprobs >= 0) event.logprob = result.logprob;
  event.top_logprobs = std::move(result.top_logprobs);
  const std::vector<int32_t>& stops = sequence.stop.stop_ids;
  if (std::find(stops.begin(), stops.end(), result.token) != stops.end()) {
    event.finish = FinishReason::kStop;
    event.stop_id = result.token;
  } else if (sequence.generated() >= sequence.stop.max_tokens) {
    event.finish = FinishReason::kLength;
  }
  if (event.finish != FinishReason::kNone) return end(sequence, std::move(event), now);
  outgoing_.push_back({sequence.events, std::move(event)});
}

void Scheduler::observe_token(Sequence& sequence, base::SteadyTime now) {
  metrics_.generation_tokens.add();
  if (sequence.generated() == 0) {
    metrics_.prompt_tokens.add(sequence.prompt_tokens);
    metrics_.time_to_first_token.observe(base::seconds_between(sequence.arrival, now));
  } else {
    metrics_.inter_token_latency.observe(base::seconds_between(sequence.last_token, now));
  }
  sequence.last_token = now;
}

// The one place where sequences go: blocks and slot are given back here, and the final event is made here.
void Scheduler::end(Sequence& sequence, api::TokenEvent event, base::SteadyTime now) {
  metrics_.count_end(event.finish, sequence.prompt_tokens, sequence.generated(), base::seconds_between(sequence.arrival, now));
  outgoing_.push_back({sequence.events, std::move(event)});
  pool_.release(sequence.blocks);
  if (sequence.slot >= 0) free_slots_.push_back(sequence.slot);
  if (std::erase(running_, &sequence) == 0) {
    std::erase(waiting_, &sequence);
    waiting_tokens_ -= sequence.length();
  }
  sequences_.erase(sequence.id);
}

void Scheduler::fail_too_large(Sequence& sequence, base::SteadyTime now) {
  Status error = base::resource_exhausted(
      format("the sequence needs {} positions, the cache holds {}: give the cache more memory or lower the sequence length",
             sequence.length(), sequence_capacity(limits_)));
  end(sequence, {.request = sequence.id, .finish = FinishReason::kError, .error = std::move(error)}, now);
}

void Scheduler::cancel(api::RequestId id, FinishReason reason, base::SteadyTime now) {
  const auto found = sequences_.find(id);
  if (found != sequences_.end()) end(*found->second, {.request = id, .finish = reason}, now);
}

void Scheduler::expire(base::SteadyTime now) {
  if (now < next_deadline_) return;
  std::vector<api::RequestId> late;
  next_deadline_ = base::SteadyTime::max();
  for (const auto& [id, sequence] : sequences_) {
    if (!sequence->deadline) continue;
    if (*sequence->deadline <= now) {
      late.push_back(id);
    } else {
      next_deadline_ = std::min(next_deadline_, *sequence->deadline);
    }
  }
  std::sort(late.begin(), late.end());
  for (const api::RequestId id : late) cancel(id, FinishReason::kAbort, now);
}

void Scheduler::end_all(FinishReason reason, const Status& error, base::SteadyTime now) {
  while (!running_.empty()) {
    Sequence& sequence = *running_.back();
    end(sequence, {.request = sequence.id, .finish = reason, .error = error}, now);
  }
  while (!waiting_.empty()) {
    Sequence& sequence = *waiting_.front();
    end(sequence, {.request = sequence.id, .finish = reason, .error = error}, now);
  }
}

}  // namespace camshaft::executor
