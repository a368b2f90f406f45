// A case: one line of text, `op key=value... rows=N [context=N | seqs=START+ROWS,...] [kv=f16|f32] [keys=dim|token] [seed=N]`.
// A value may list alternatives, `rows=1|2|17`; the line then stands for every combination.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/op.h"

namespace camshaft::opcheck {

// New rows [start, start + rows) of one sequence.
struct SequenceSpec {
  int64_t start = 0;
  int64_t rows = 0;
};

struct Case {
  std::string line;  // one combination: what repeats it
  ops::OpDesc desc;
  int64_t rows = 0;
  std::vector<SequenceSpec> sequences;  // their rows add up to `rows`
  tensor::Format kv_format = tensor::Format::kF16;
  ops::KvLayout::KeyOrder key_order = ops::KvLayout::KeyOrder::kDimMajor;
  uint64_t seed = 1;
  int64_t count = 1;  // how often a model's step runs it (perf)
};

Result<std::vector<Case>> parse_cases(std::string_view line);
// Lines of a file; empty ones and those that start with '#' are passed over.
Result<std::vector<Case>> read_cases(const std::string& path);

}  // namespace camshaft::opcheck
