#include "runtime/bound_plan.h"

#include <algorithm>

#include "base/format.h"

namespace camshaft::runtime {

using engine::Operand;

Result<kernels::TensorArg> BoundPlan::bind_operand(const Operand& operand, const StepBuffers& buffers) const {
  const engine::Plan& plan = engine_->meta().plan;
  switch (operand.place) {
    case Operand::Place::kArena: return kernels::TensorArg{arena_.data() + operand.offset, operand.stride};
    case Operand::Place::kConstant: {
      const auto bytes = engine_->constant(operand.constant);
      return kernels::TensorArg{const_cast<std::byte*>(bytes.data()), plan.constants[static_cast<size_t>(operand.constant)].k};
    }
    case Operand::Place::kIds: return kernels::TensorArg{buffers.ids, 1};
    case Operand::Place::kLogitRows: return kernels::TensorArg{buffers.logit_rows, 1};
    case Operand::Place::kLogits: return kernels::TensorArg{buffers.logits, plan.vocab};
    case Operand::Place::kKvState: return kernels::TensorArg{};
  }
  return base::internal_error("unknown operand place");
}

// The layout of the step's first quantisable weight: what gemm and embedding kernels need to know.
Result<const kernels::WeightLayout*> BoundPlan::layout_of(const engine::Step& step, const kernels::KernelInfo& kernel) const {
  const auto kind = ops::op_kind(step.desc);
  if (kind != ops::OpKind::kGemm && kind != ops::OpKind::kEmbedding) return nullptr;
  for (const Operand& operand : step.inputs) {
    if (operand.place != Operand::Place::kConstant) continue;
    const engine::ConstantEntry& entry = engine_->meta().plan.constants[static_cast<size_t>(operand.constant)];
    const kernels::WeightLayout* layout = kernels::find_layout(entry.layout);
    if (layout == nullptr) {
      return base::failed_precondition(
          format("step '{}': weight layout '{}' is unknown to this Camshaft; build the engine again", step.name, entry.layout));
    }
    // An embedding reads any layout of its format, a gemm kernel only its own.
    const kernels::WeightLayout* wanted = kind == ops::OpKind::kGemm ? kernel.weight_layout(step.desc) : layout;
    if (wanted == nullptr || layout->name != wanted->name) {
      return base::data_loss(format("step '{}': its weight '{}' has layout '{}', kernel '{}' reads '{}'; build the engine again",
                                    step.name, entry.name, entry.layout, kernel.name, wanted == nullptr ? "none" : wanted->name));
    }
    if (entry.format != layout->format || static_cast<uint64_t>(kernels::packed_bytes(*layout, entry.n, entry.k)) != entry.bytes) {
      return base::data_loss(
          format("constant '{}': {} bytes of format '{}' do not fit layout '{}' of [{}, {}]; build the engine again", entry.name,
                 entry.bytes, tensor::format_info(entry.format).name, entry.layout, entry.n, entry.k));
    }
    return layout;
  }
  return base::data_loss(format("step '{}' has no weight; build the engine again", step.name));
}

Status BoundPlan::bind_step(const engine::Step& step, const StepBuffers& buffers) {
  const engine::Plan& plan = engine_->meta().plan;
  BoundStep bound;
  bound.kernel = kernels::find_kernel(device::DeviceKind::kCpu, step.kernel);
  if (bound.kernel == nullptr || bound.kernel->op != ops::op_kind(step.desc)) {
    return base::failed_precondition(
        format("step '{}': kernel '{}' is unknown to this Camshaft; build the engine again", step.name, step.kernel));
  }
  const kernels::Support support = bound.kernel->supports(step.desc, caps_);
  if (!support.yes) {
    return base::failed_precondition(format("step '{}': kernel '{}' refuses: {}", step.name, step.kernel, support.reason));
  }
  CS_ASSIGN_OR_RETURN(const kernels::WeightLayout* layout, layout_of(step, *bound.kernel));
  const std::vector<kernels::Tactic> tactics = bound.kernel->tactics(step.desc);
  for (const int32_t tactic : step.tactics) {
    if (std::ranges::none_of(tactics, [&](const kernels::Tactic& known) { return known.id == tactic; })) {
      return base::failed_precondition(
          format("step '{}': kernel '{}' has no tactic {}; build the engine again", step.name, step.kernel, tactic));
    }
    bound.contexts.push_back({&step.desc, tactic, &caps_, layout, rope_table_.data()});
  }
  for (const Operand& operand : step.inputs) {
    CS_ASSIGN_OR_RETURN(bound.inputs.emplace_back(), bind_operand(operand, buffers));
  }
  for (const Operand& operand : step.outputs) {
    CS_ASSIGN_OR_RETURN(bound.outputs.emplace_back(), bind_operand(operand, buffers));
  }
  const int64_t max_rows = step.rows == ops::Symbol::kLogitRows ? plan.max_logit_rows : plan.max_batch_tokens;
  const int64_t workspace = bound.kernel->workspace_bytes(step.desc, caps_, max_rows, plan.max_workers);
  if (step.workspace_offset + workspace > plan.arena_bytes) {
    return base::data_loss(format("step '{}': its workspace of {} bytes passes the arena of {}; build the engine again", step.name,
                                  workspace, plan.arena_bytes));
  }
  bound.workspace = arena_.data() + step.workspace_offset;
  bound.over_logit_rows = step.rows == ops::Symbol::kLogitRows;
  steps_.push_back(std::move(bound));
  return base::ok_status();
}

Result<std::unique_ptr<BoundPlan>> BoundPlan::make(const engine::Engine& engine, kernels::Isa isa, const StepBuffers& buffers,
                                                   int64_t max_positions) {
  const engine::Plan& plan = engine.meta().plan;
  std::unique_ptr<BoundPlan> bound(new BoundPlan(engine, isa));
  CS_ASSIGN_OR_RETURN(bound->arena_, device::allocate_host(static_cast<size_t>(plan.arena_bytes)));
  bound->rope_table_.resize(static_cast<size_t>(max_positions * plan.rope.rotary_dim));
  ops::fill_rope_table(plan.rope, max_positions, bound->rope_table_.data());
  bound->steps_.reserve(plan.steps.size());
  for (const engine::Step& step : plan.steps) CS_RETURN_IF_ERROR(bound->bind_step(step, buffers));
  return bound;
}

void BoundPlan::run(const device::Launch& launch, const kernels::BatchView& batch, int64_t logit_rows) const {
  const auto& buckets = engine_->meta().plan.buckets;
  const size_t token_bucket = engine::bucket_index(buckets, batch.num_tokens);
  const size_t logit_bucket = engine::bucket_index(buckets, logit_rows);
  for (const BoundStep& step : steps_) {
    const int64_t rows = step.over_logit_rows ? logit_rows : batch.num_tokens;
    if (rows == 0) continue;
    const kernels::KernelCall call{rows, step.inputs.data(), step.outputs.data(), step.workspace, &batch};
    step.kernel->run(launch, step.contexts[step.over_logit_rows ? logit_bucket : token_bucket], call);
    launch.barrier();
  }
}

}  // namespace camshaft::runtime
