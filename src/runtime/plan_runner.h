// PlanRunner: runs an engine's plan for batches on the CPU. Owns the worker pool, the activation arena and the cache storage.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.h"
#include "engine/engine.h"
#include "runtime/model_runner.h"

namespace camshaft::runtime {

struct RunnerOptions {
  int32_t max_seqs = 32;
  int32_t max_seq_len = 0;       // 0: the model's context length
  int32_t prefill_chunk = 512;   // rows a step beyond one a sequence; at most the plan's max_batch_tokens
  uint64_t kv_memory_bytes = 0;  // 0: enough for max_seqs sequences of max_seq_len, at most a quarter of the machine's memory
  int num_threads = 0;           // 0: all cores this process may use
  base::Pinning pinning = base::Pinning::kPin;
};

class PlanRunner final : public ModelRunner {
 public:
  // Errors: a plan whose kernels this binary lacks, memory that is not there (with sizes), options beyond the plan's limits.
  static Result<std::unique_ptr<PlanRunner>> make(std::shared_ptr<const engine::Engine> engine, const RunnerOptions& options);
  ~PlanRunner() override;

  const RunnerLimits& limits() const override;
  Result<Ticket> submit(const Batch& batch) override;
  Result<std::vector<SampledToken>> wait(Ticket ticket) override;

  // For compare and tests: logits [rows, vocab] of the listed rows of one fresh sequence, cache and slots untouched afterwards.
  // Runs chunk by chunk like serving does; `chunk` 0: the runner's own.
  Result<std::vector<float>> logits(std::span<const int32_t> tokens, std::span<const int32_t> rows, int32_t chunk = 0);

 private:
  struct Impl;
  explicit PlanRunner(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::runtime
