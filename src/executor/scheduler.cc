// Admission, planning and preemption: from waiting and running sequences to the next batch.
#include "executor/scheduler.h"

#include <algorithm>
#include <numeric>

namespace camshaft::executor {

int32_t sequence_capacity(const runtime::RunnerLimits& limits) {
  const int64_t cache = int64_t{limits.num_blocks} * limits.block_tokens;
  return static_cast<int32_t>(std::min<int64_t>(limits.max_seq_len, cache));
}

Scheduler::Scheduler(const runtime::RunnerLimits& limits, int32_t prefill_chunk, ExecutorMetrics& metrics)
    : limits_(limits),
      prefill_chunk_(prefill_chunk),
      metrics_(metrics),
      pool_(limits.num_blocks),
      free_slots_(static_cast<size_t>(limits.max_seqs)) {
  std::iota(free_slots_.rbegin(), free_slots_.rend(), 0);
}

void Scheduler::add(api::Request request, EventQueue& events) {
  auto sequence = std::make_unique<Sequence>();
  sequence->id = request.id;
  sequence->number = ++last_number_;
  sequence->events = &events;
  sequence->sampling = std::move(request.sampling);
  sequence->stop = std::move(request.stop);
  sequence->deadline = request.deadline;
  sequence->tokens = std::move(request.prompt);
  sequence->prompt_tokens = sequence->length();
  sequence->arrival = request.arrival;
  const int32_t behind_prompt = std::max(1, sequence_capacity(limits_) - sequence->prompt_tokens);
  sequence->stop.max_tokens = std::min(sequence->stop.max_tokens, behind_prompt);
  if (request.deadline) next_deadline_ = std::min(next_deadline_, *request.deadline);
  waiting_.push_back(sequence.get());
  waiting_tokens_ += sequence->length();
  const bool is_new = sequences_.emplace(request.id, std::move(sequence)).second;
  CS_CHECK(is_new, "two requests with one id");
}

const runtime::Batch* Scheduler::plan(base::SteadyTime now) {
  start_plan();
  plan_running();
  // What a preemption has just freed is not given to another at once.
  if (!preempted_) admit_waiting(now);
  // Rows that decode come first, then prompt rows, each in order of arrival.
  for (Sequence* sequence : running_) {
    if (sequence->rows == 1 && sequence->remaining() == 1) emit(*sequence);
  }
  shape_.decode_rows = static_cast<int32_t>(in_flight_.size());
  for (Sequence* sequence : running_) {
    if (sequence->rows > 0 && sequence->remaining() > 1) emit(*sequence);
  }
  shape_.sequences = static_cast<int32_t>(in_flight_.size());
  CS_CHECK(shape_.sequences > 0 || sequences_.empty(), "sequences are there but none can go on");
  if (shape_.sequences == 0) return nullptr;
  ++steps_;
  return &batch_;
}

void Scheduler::start_plan() {
  for (runtime::BatchSequence& entry : batch_.sequences) spare_.push_back(std::move(entry));
  batch_.sequences.clear();
  batch_.starts.clear();
  in_flight_.clear();
  shape_ = {};
  preempted_ = false;
}

void Scheduler::plan_running() {
  const auto decoding = std::count_if(running_.begin(), running_.end(), [](const Sequence* s) { return s->remaining() == 1; });
  decode_left_ = limits_.max_batch_tokens;
  prefill_left_ = std::clamp(limits_.max_batch_tokens - static_cast<int32_t>(decoding), 0, prefill_chunk_);
  // Preempting shortens the list at its end, behind what is planned already.
  for (size_t i = 0; i < running_.size(); ++i) {
    Sequence& sequence = *running_[i];
    int32_t& budget = sequence.remaining() == 1 ? decode_left_ : prefill_left_;
    const int32_t rows = make_room(sequence, std::min(sequence.remaining(), budget));
    if (rows > 0) take_rows(sequence, rows, budget);
  }
}

// How many of `rows` have blocks, after preempting younger sequences. The youngest itself rather waits a step (0) or takes fewer:
// what it computed stays of use unless an older one needs the blocks. Alone it has all blocks, and sequence_capacity() fits them.
int32_t Scheduler::make_room(Sequence& sequence, int32_t rows) {
  sequence.rows = 0;
  if (rows == 0) return 0;
  const int32_t missing = missing_blocks(sequence, sequence.computed + rows);
  while (pool_.free() < missing && running_.back() != &sequence) preempt_youngest();
  if (pool_.free() >= missing) return rows;
  const int32_t covered = (static_cast<int32_t>(sequence.blocks.size()) + pool_.free()) * limits_.block_tokens;
  return std::max(0, covered - sequence.computed);
}

void Scheduler::preempt_youngest() {
  Sequence& sequence = *running_.back();
  running_.pop_back();
  pool_.release(sequence.blocks);
  sequence.computed = 0;
  sequence.rows = 0;
  waiting_.push_front(&sequence);
  waiting_tokens_ += sequence.length();
  preempted_ = true;
  ++preemptions_;
  metrics_.preemptions.add();
}

void Scheduler::admit_waiting(base::SteadyTime now) {
  while (!waiting_.empty() && prefill_left_ > 0) {
    Sequence& sequence = *waiting_.front();
    if (sequence.length() > sequence_capacity(limits_)) {
      fail_too_large(sequence, now);
    } else if (can_admit(sequence)) {
      admit(now);
    } else {
      return;
    }
  }
}

// All known tokens must fit, beside what the running sequences still need for theirs and one more block for each of them: a
// sequence that comes in is not to be preempted within the next few steps.
bool Scheduler::can_admit(const Sequence& sequence) const {
  if (sequence.slot < 0 && free_slots_.empty()) return false;
  auto needed = blocks_for(sequence.length());
  for (const Sequence* other : running_) needed += std::max(0, missing_blocks(*other, other->length())) + 1;
  return needed <= pool_.free();
}

void Scheduler::admit(base::SteadyTime now) {
  Sequence& sequence = *waiting_.front();
  waiting_.pop_front();
  waiting_tokens_ -= sequence.length();
  running_.push_back(&sequence);
  if (sequence.slot < 0) start_slot(sequence, now);
  take_rows(sequence, std::min(sequence.remaining(), prefill_left_), prefill_left_);
}

void Scheduler::start_slot(Sequence& sequence, base::SteadyTime now) {
  sequence.slot = free_slots_.back();
  free_slots_.pop_back();
  metrics_.queue_time.observe(base::seconds_between(sequence.arrival, now));
  const bool wants_prompt = sequence.sampling.repetition_penalty != 1.0f;
  batch_.starts.push_back({.slot = sequence.slot,
                           .sampling = sequence.sampling,
                           .stop_ids = sequence.stop.stop_ids,
                           .min_tokens = sequence.stop.min_tokens,
                           .prompt = wants_prompt ? sequence.tokens : std::vector<int32_t>()});
}

void Scheduler::take_rows(Sequence& sequence, int32_t rows, int32_t& budget) {
  const bool is_there = pool_.allocate(missing_blocks(sequence, sequence.computed + rows), sequence.blocks);
  CS_CHECK(is_there, "blocks were counted before");
  sequence.rows = rows;
  budget -= rows;
}

void Scheduler::emit(Sequence& sequence) {
  if (spare_.empty()) spare_.emplace_back();
  runtime::BatchSequence& entry = batch_.sequences.emplace_back(std::move(spare_.back()));
  spare_.pop_back();
  const auto first = sequence.tokens.begin() + sequence.computed;
  entry.slot = sequence.slot;
  entry.start_position = sequence.computed;
  entry.tokens.assign(first, first + sequence.rows);
  entry.blocks.swap(sequence.blocks);
  entry.sample = sequence.rows == sequence.remaining();
  if (sequence.remaining() > 1) shape_.prefill_rows += sequence.rows;
  in_flight_.push_back(&sequence);
}

ExecutorStats Scheduler::stats() const {
  return {.waiting = static_cast<int64_t>(waiting_.size()),
          .running = static_cast<int64_t>(running_.size()),
          .blocks_total = pool_.total(),
          .blocks_used = pool_.used(),
          .preemptions = preemptions_,
          .steps = steps_};
}

Snapshot Scheduler::snapshot() const {
  const auto copy = [](const Sequence& s) { return SequenceSnapshot{s.number, s.length(), s.computed, s.slot, s.blocks}; };
  Snapshot out{.limits = limits_, .free_blocks = {}, .free_slots = free_slots_};
  out.free_blocks.assign(pool_.free_blocks().begin(), pool_.free_blocks().end());
  for (const Sequence* sequence : running_) out.running.push_back(copy(*sequence));
  for (const Sequence* sequence : waiting_) out.waiting.push_back(copy(*sequence));
  return out;
}

}  // namespace camshaft::executor
