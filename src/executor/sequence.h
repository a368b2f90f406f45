// Sequence: one admitted or waiting request inside the executor. Owned by the scheduler, on the executor's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "api/request.h"
#include "executor/executor.h"

namespace camshaft::executor {

struct Sequence {
  api::RequestId id = 0;
  uint64_t number = 0;  // order of arrival; every running sequence is older than every waiting one
  EventQueue* events = nullptr;
  api::SamplingParams sampling;
  api::StopParams stop;
  std::optional<base::SteadyTime> deadline;

  std::vector<int32_t> tokens;  // the prompt, then what was sampled
  int32_t prompt_tokens = 0;
  int32_t computed = 0;         // leading tokens whose keys and values are in the cache; always fewer than tokens
  int32_t rows = 0;             // tokens of the step in flight
  int32_t slot = -1;            // from the first admission to the end, preempted or not
  std::vector<int32_t> blocks;  // covers computed + rows positions, no more

  base::SteadyTime arrival;
  base::SteadyTime last_token;

  int32_t length() const { return static_cast<int32_t>(tokens.size()); }
  int32_t generated() const { return length() - prompt_tokens; }
  // Known tokens that are not in the cache. 1 where the sequence decodes; more while a prompt, or after preemption prompt and
  // output, is (re)computed. Only a step that reaches the last one samples, so nothing is sampled twice.
  int32_t remaining() const { return length() - computed; }
};

}  // namespace camshaft::executor
