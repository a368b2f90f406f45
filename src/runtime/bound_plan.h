// BoundPlan: a plan with its kernels, weights and memory looked up, ready to run batch after batch without allocating.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "engine/engine.h"
#include "kernels/kernel.h"

namespace camshaft::runtime {

// Buffers that steps read and write beside the arena.
struct StepBuffers {
  int32_t* ids = nullptr;         // [max_batch_tokens]
  int32_t* logit_rows = nullptr;  // [max_logit_rows]
  float* logits = nullptr;        // [max_logit_rows, vocab]
};

class BoundPlan {
 public:
  // failed_precondition for a kernel, layout or tactic that this binary lacks, naming it. The engine outlives this.
  static Result<std::unique_ptr<BoundPlan>> make(const engine::Engine& engine, kernels::Isa isa, const StepBuffers& buffers,
                                                 int64_t max_positions);

  // Every worker calls it with the same arguments; returns after the last step's barrier. Steps over R rows are skipped when there
  // are none.
  void run(const device::Launch& launch, const kernels::BatchView& batch, int64_t logit_rows) const;

 private:
  struct BoundStep {
    const kernels::KernelInfo* kernel = nullptr;
    std::vector<kernels::RunContext> contexts;  // one a bucket
    std::vector<kernels::TensorArg> inputs;
    std::vector<kernels::TensorArg> outputs;
    std::byte* workspace = nullptr;
    bool over_logit_rows = false;
  };
  BoundPlan(const engine::Engine& engine, kernels::Isa isa) : engine_(&engine) {
    caps_ = {device::DeviceKind::kCpu, isa, engine.meta().plan.kv};
  }
  Status bind_step(const engine::Step& step, const StepBuffers& buffers);
  Result<kernels::TensorArg> bind_operand(const engine::Operand& operand, const StepBuffers& buffers) const;
  Result<const kernels::WeightLayout*> layout_of(const engine::Step& step, const kernels::KernelInfo& kernel) const;

  const engine::Engine* engine_;
  kernels::Caps caps_;
  device::Buffer arena_;
  std::vector<float> rope_table_;
  std::vector<BoundStep> steps_;
};

}  // namespace camshaft::runtime
