// Request, SamplingParams, TokenEvent: what generation asks of the executor and what comes back. Token ids only; text stays at the
// edge.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/status.h"

namespace camshaft::api {

// One definition of each sampling default. Ranges are checked where a request is decoded (generation/params).
struct SamplingParams {
  float temperature = 1.0f;         // 0: greedy
  int32_t top_k = 0;                // 0: off
  float top_p = 1.0f;               // 1: off
  float min_p = 0.0f;               // 0: off
  float repetition_penalty = 1.0f;  // over prompt and output; 1: off
  float presence_penalty = 0.0f;    // over output
  float frequency_penalty = 0.0f;   // over output
  std::vector<std::pair<int32_t, float>> logit_bias;
  uint64_t seed = 0;      // always set: the edge draws one when the request has none
  int32_t logprobs = -1;  // -1: none; 0: of the sampled token; n: and the n best
};

struct StopParams {
  int32_t max_tokens = 16;        // of output, >= 1
  int32_t min_tokens = 0;         // before this many, end tokens are masked
  std::vector<int32_t> stop_ids;  // end tokens of the model (unless ignore_eos) and the request's own
};

using RequestId = uint64_t;

struct Request {
  RequestId id = 0;
  std::vector<int32_t> prompt;  // [prompt tokens], never empty
  SamplingParams sampling;
  StopParams stop;
  base::SteadyTime arrival;
  std::optional<base::SteadyTime> deadline;
};

enum class FinishReason : uint8_t { kNone, kStop, kLength, kAbort, kError };
// "stop", "length", "abort", "error"; "" for kNone.
std::string_view finish_reason_name(FinishReason reason);

struct TokenLogprob {
  int32_t id = 0;
  float logprob = 0;  // natural log, of the distribution before temperature and cuts
};

// One step's news of one sequence. Exactly one event with finish != kNone ends each admitted request.
struct TokenEvent {
  RequestId request = 0;
  int32_t token = -1;  // -1: no new token in this event (an end without one)
  FinishReason finish = FinishReason::kNone;
  int32_t stop_id = -1;  // the stop token that ended it, else -1
  std::optional<TokenLogprob> logprob;
  std::vector<TokenLogprob> top_logprobs;  // best first
  int32_t cached_tokens = 0;               // prompt tokens taken from a cache; set on the first event
  Status error;                            // set with kError
};

struct Usage {
  int32_t prompt_tokens = 0;
  int32_t completion_tokens = 0;
  int32_t cached_tokens = 0;
};

}  // namespace camshaft::api
