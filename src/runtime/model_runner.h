// ModelRunner: the narrow door between the executor and whatever computes. Plain batch data in, token ids and logprobs out, by
// ticket. Logits never leave the runner; sampling state lives in it, keyed by slot (on a GPU it stays on the device, a step ahead
// of the host).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/request.h"
#include "base/status.h"

namespace camshaft::runtime {

// What the runner offers; fixed after it was made.
struct RunnerLimits {
  int32_t num_blocks = 0;  // cache blocks in all
  int32_t block_tokens = 16;
  int32_t max_seqs = 0;          // slots
  int32_t max_batch_tokens = 0;  // rows a step
  int32_t max_seq_len = 0;       // positions a sequence may use
  int32_t vocab = 0;
};

// Starts a slot's sampling state before its first step. A preempted sequence keeps its slot: its state goes on unchanged.
struct SlotStart {
  int32_t slot = 0;
  api::SamplingParams sampling;
  std::vector<int32_t> stop_ids;  // masked while fewer than min_tokens were sampled
  int32_t min_tokens = 0;
  std::vector<int32_t> prompt;  // for the repetition penalty; may be empty when that is off
};

// New tokens of one sequence. blocks cover all positions up to start_position + tokens.size().
struct BatchSequence {
  int32_t slot = 0;
  int32_t start_position = 0;
  std::vector<int32_t> tokens;
  std::vector<int32_t> blocks;
  bool sample = false;  // whether a token is wanted after the last one
};

struct Batch {
  std::vector<SlotStart> starts;
  std::vector<BatchSequence> sequences;  // at most max_seqs, each slot once; tokens at most max_batch_tokens in all
};

struct SampledToken {
  int32_t slot = 0;
  int32_t token = -1;
  api::TokenLogprob logprob;  // set when the slot wants logprobs
  std::vector<api::TokenLogprob> top_logprobs;
  Status error;  // not ok: this sequence alone failed (non-finite logits)
};

using Ticket = uint64_t;

// Used by one thread (the executor's). A failed submit or wait means the device is lost: the executor stops.
class ModelRunner {
 public:
  virtual ~ModelRunner() = default;
  virtual const RunnerLimits& limits() const = 0;
  virtual Result<Ticket> submit(const Batch& batch) = 0;
  // Results of sequences with sample = true, in batch order. Tickets are waited for in order.
  virtual Result<std::vector<SampledToken>> wait(Ticket ticket) = 0;
};

}  // namespace camshaft::runtime
