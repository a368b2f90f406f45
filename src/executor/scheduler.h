// Scheduler: decides each step's batch and turns its results into events. Plain logic without threads or time of its own; the
// executor's thread owns it, the simulator drives it directly.
//
// Order: oldest first, always. A step takes one row of every sequence that decodes, then prompt rows. Blocks are taken as positions
// need them; when they run out the youngest sequence goes back to the front of the queue and is recomputed later.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "executor/block_pool.h"
#include "executor/executor_metrics.h"
#include "executor/invariants.h"
#include "executor/sequence.h"
#include "runtime/model_runner.h"

namespace camshaft::executor {

// An event and the queue it goes to.
struct Outgoing {
  EventQueue* to = nullptr;
  api::TokenEvent event;
};

// Positions one sequence can have at all: the model's limit, or less where the cache is smaller.
int32_t sequence_capacity(const runtime::RunnerLimits& limits);

class Scheduler {
 public:
  // `prefill_chunk` >= 1: prompt rows a step, over all sequences. The metrics outlive the scheduler.
  Scheduler(const runtime::RunnerLimits& limits, int32_t prefill_chunk, ExecutorMetrics& metrics);

  // All of these are called between steps: after apply() and before the next plan().
  // The request is checked; its max_tokens is cut to what fits behind the prompt.
  void add(api::Request request, EventQueue& events);
  // Ends the request with `reason`; unknown ids are ignored.
  void cancel(api::RequestId id, api::FinishReason reason, base::SteadyTime now);
  // Ends with kAbort what is past its deadline.
  void expire(base::SteadyTime now);
  void end_all(api::FinishReason reason, const Status& error, base::SteadyTime now);

  // The next step's batch, valid until apply(); nullptr when there is nothing to do.
  const runtime::Batch* plan(base::SteadyTime now);
  // The step's results. An error says that they do not belong to the batch: the runner cannot be trusted any longer.
  Status apply(std::vector<runtime::SampledToken> results, base::SteadyTime now);
  // The step failed and has no results: end_all() may be called.
  void abandon();

  // Events since the last call, in order.
  std::vector<Outgoing>& outgoing() { return outgoing_; }

  bool empty() const { return sequences_.empty(); }
  int64_t waiting_tokens() const { return waiting_tokens_; }
  const StepShape& shape() const { return shape_; }
  ExecutorStats stats() const;
  Snapshot snapshot() const;

 private:
  void start_plan();
  void plan_running();
  int32_t make_room(Sequence& sequence, int32_t rows);
  void preempt_youngest();
  void admit_waiting(base::SteadyTime now);
  bool can_admit(const Sequence& sequence) const;
  void admit(base::SteadyTime now);
  void start_slot(Sequence& sequence, base::SteadyTime now);
  void take_rows(Sequence& sequence, int32_t rows, int32_t& budget);
  void emit(Sequence& sequence);
  void take_tables_back();
  void accept(Sequence& sequence, runtime::SampledToken result, base::SteadyTime now);
  void observe_token(Sequence& sequence, base::SteadyTime now);
  void end(Sequence& sequence, api::TokenEvent event, base::SteadyTime now);
  void fail_too_large(Sequence& sequence, base::SteadyTime now);
  int32_t blocks_for(int32_t positions) const { return (positions + limits_.block_tokens - 1) / limits_.block_tokens; }
  int32_t missing_blocks(const Sequence& sequence, int32_t positions) const {
    return blocks_for(positions) - static_cast<int32_t>(sequence.blocks.size());
  }

  runtime::RunnerLimits limits_;
  int32_t prefill_chunk_;
  ExecutorMetrics& metrics_;
  BlockPool pool_;
  std::vector<int32_t> free_slots_;

  std::unordered_map<api::RequestId, std::unique_ptr<Sequence>> sequences_;
  std::vector<Sequence*> running_;  // by number
  std::deque<Sequence*> waiting_;   // by number
  int64_t waiting_tokens_ = 0;
  uint64_t last_number_ = 0;
  base::SteadyTime next_deadline_ = base::SteadyTime::max();

  // The step being planned or in flight. Block tables move into the batch and back: nothing is copied.
  runtime::Batch batch_;
  std::vector<runtime::BatchSequence> spare_;  // entries of larger batches, for their capacity
  std::vector<Sequence*> in_flight_;           // by batch entry
  int32_t prefill_left_ = 0;
  int32_t decode_left_ = 0;
  bool preempted_ = false;
  StepShape shape_;

  std::vector<Outgoing> outgoing_;
  int64_t preemptions_ = 0;
  int64_t steps_ = 0;
};

}  // namespace camshaft::executor
