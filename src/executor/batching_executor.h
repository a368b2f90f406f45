// BatchingExecutor: the executor over a ModelRunner, with a thread of its own that owns scheduler, sequences and blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "executor/executor.h"
#include "runtime/model_runner.h"

namespace camshaft::executor {

struct ExecutorOptions {
  int32_t max_queued_requests = 1024;
  int64_t max_queued_tokens = int64_t{4} << 20;
  int32_t prefill_chunk = 512;  // prompt rows a step, over all sequences
  double step_timeout_s = 30;   // a step that runs longer is a fault: health says so and nothing more is taken until it ends
  std::string model_name;       // label of the metrics
};

// Takes the runner; its thread starts here and ends with the object (which aborts what still runs).
Result<std::unique_ptr<Executor>> start_executor(std::unique_ptr<runtime::ModelRunner> runner, const ExecutorOptions& options,
                                                 const base::Clock& clock, base::MetricsRegistry& metrics);

}  // namespace camshaft::executor
