// Batch > steps over the worker pool > logits > one token a sampled sequence.
#include "runtime/plan_runner.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/format.h"
#include "runtime/bound_plan.h"
#include "runtime/kv_cache.h"
#include "runtime/sampler.h"

namespace camshaft::runtime {
namespace {

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

Result<RunnerLimits> resolve_limits(const engine::Plan& plan, const RunnerOptions& options) {
  RunnerLimits limits;
  limits.block_tokens = static_cast<int32_t>(ops::KvLayout::kBlockTokens);
  limits.vocab = static_cast<int32_t>(plan.vocab);
  limits.max_seqs = options.max_seqs;
  if (options.max_seqs > plan.max_logit_rows) {
    return base::invalid_argument(
        format("--max-seqs is {}, the engine was built for at most {}; build it with a larger "
               "--max-logit-rows",
               options.max_seqs, plan.max_logit_rows));
  }
  limits.max_batch_tokens = options.prefill_chunk + options.max_seqs;
  if (limits.max_batch_tokens > plan.max_batch_tokens) {
    return base::invalid_argument(
        format("--prefill-chunk {} plus --max-seqs {} is {} rows a step, the engine was built for {}; lower one of them, or build "
               "it with a larger --max-rows",
               options.prefill_chunk, options.max_seqs, limits.max_batch_tokens, plan.max_batch_tokens));
  }
  limits.max_seq_len = options.max_seq_len == 0 ? static_cast<int32_t>(plan.context_length) : options.max_seq_len;
  if (limits.max_seq_len > plan.context_length) {
    return base::invalid_argument(
        format("--max-seq-len is {}, the model's context length is {}", limits.max_seq_len, plan.context_length));
  }
  CS_ASSIGN_OR_RETURN(limits.num_blocks, plan_kv_blocks(plan.kv, limits.max_seqs, limits.max_seq_len, options.kv_memory_bytes));
  return limits;
}

}  // namespace

// Owned and used by one thread, which is worker 0 of the pool.
struct PlanRunner::Impl {
  std::shared_ptr<const engine::Engine> engine;
  RunnerLimits limits;
  std::unique_ptr<base::ThreadPool> pool;
  std::unique_ptr<KvCache> cache;
  std::unique_ptr<BoundPlan> plan;

  // The batch as kernels see it: [max_batch_tokens], [max_seqs + 1], [max_logit_rows], [max_logit_rows, vocab].
  std::vector<int32_t> ids;
  std::vector<int32_t> positions;
  std::vector<kernels::SequenceSlice> slices;
  std::vector<int32_t> logit_rows;
  device::Buffer logits_buffer;
  float* logits = nullptr;
  kernels::BatchView view;

  std::vector<std::unique_ptr<SlotState>> slots;  // [max_seqs]
  std::vector<std::vector<float>> scratch;        // one a worker
  std::vector<SampledToken> sampled;
  Ticket next_ticket = 1;

  Status prepare(const engine::Plan& plan_values, const RunnerOptions& options);
  Status load_batch(const Batch& batch);
  Status check_sequence(const BatchSequence& sequence) const;
  void append(std::span<const int32_t> tokens, int32_t start, const int32_t* blocks);
  void execute();
  std::span<float> logits_row(int64_t row) const { return {logits + row * limits.vocab, static_cast<size_t>(limits.vocab)}; }
};

PlanRunner::PlanRunner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PlanRunner::~PlanRunner() = default;
const RunnerLimits& PlanRunner::limits() const { return impl_->limits; }

Status PlanRunner::Impl::prepare(const engine::Plan& plan_values, const RunnerOptions& options) {
  CS_ASSIGN_OR_RETURN(const kernels::Isa isa, kernels::parse_isa(engine->meta().fingerprint.isa));
  const int threads = options.num_threads > 0 ? options.num_threads : std::min(usable_cores(), plan_values.max_workers);
  if (threads > plan_values.max_workers) {
    return base::invalid_argument(format("--threads is {}, the engine was built for at most {}", threads, plan_values.max_workers));
  }
  pool = std::make_unique<base::ThreadPool>(threads, options.pinning);
  scratch.resize(static_cast<size_t>(threads));
  CS_ASSIGN_OR_RETURN(KvCache kv, KvCache::make(plan_values.kv, limits.num_blocks));
  cache = std::make_unique<KvCache>(std::move(kv));
  const auto logits_bytes = static_cast<size_t>(plan_values.max_logit_rows * plan_values.vocab) * sizeof(float);
  CS_ASSIGN_OR_RETURN(logits_buffer, device::allocate_host(logits_bytes));
  logits = reinterpret_cast<float*>(logits_buffer.data());
  ids.resize(static_cast<size_t>(limits.max_batch_tokens));
  positions.resize(ids.size());
  slices.resize(static_cast<size_t>(limits.max_seqs) + 1);
  logit_rows.resize(static_cast<size_t>(plan_values.max_logit_rows));
  slots.resize(static_cast<size_t>(limits.max_seqs));
  CS_ASSIGN_OR_RETURN(plan, BoundPlan::make(*engine, isa, {ids.data(), logit_rows.data(), logits}, limits.max_seq_len));
  return base::ok_status();
}

Result<std::unique_ptr<PlanRunner>> PlanRunner::make(std::shared_ptr<const engine::Engine> engine, const RunnerOptions& options) {
  auto impl = std::make_unique<Impl>();
  const engine::Plan& plan = engine->meta().plan;
  CS_ASSIGN_OR_RETURN(impl->limits, resolve_limits(plan, options));
  impl->engine = std::move(engine);
  CS_RETURN_IF_ERROR(impl->prepare(plan, options));
  return std::unique_ptr<PlanRunner>(new PlanRunner(std::move(impl)));
}

Status PlanRunner::Impl::check_sequence(const BatchSequence& sequence) const {
  const auto end = static_cast<int64_t>(sequence.start_position) + static_cast<int64_t>(sequence.tokens.size());
  const bool good = sequence.slot >= 0 && sequence.slot < limits.max_seqs && !sequence.tokens.empty() &&
                    sequence.start_position >= 0 && end <= limits.max_seq_len &&
                    end <= static_cast<int64_t>(sequence.blocks.size()) * limits.block_tokens;
  if (!good) {
    return base::internal_error(format("batch: slot {} of {}, positions {} to {} of {} in {} blocks", sequence.slot,
                                       limits.max_seqs, sequence.start_position, end, limits.max_seq_len, sequence.blocks.size()));
  }
  for (const int32_t token : sequence.tokens) {
    if (token < 0 || token >= limits.vocab) return base::internal_error(format("batch: token {} of {}", token, limits.vocab));
  }
  for (const int32_t block : sequence.blocks) {
    if (block < 0 || block >= limits.num_blocks)
      return base::internal_error(format("batch: block {} of {}", block, limits.num_blocks));
  }
  if (sequence.sample && slots[static_cast<size_t>(sequence.slot)] == nullptr) {
    return base::internal_error(format("batch: slot {} samples before it was started", sequence.slot));
  }
  return base::ok_status();
}

void PlanRunner::Impl::append(std::span<const int32_t> tokens, int32_t start, const int32_t* blocks) {
  const auto first = view.num_tokens;
  slices[static_cast<size_t>(view.num_sequences++)] = {static_cast<int32_t>(first), static_cast<int32_t>(tokens.size()), start,
                                                       blocks};
  for (size_t i = 0; i < tokens.size(); ++i) {
    ids[static_cast<size_t>(first) + i] = tokens[i];
    positions[static_cast<size_t>(first) + i] = start + static_cast<int32_t>(i);
  }
  view.num_tokens += static_cast<int64_t>(tokens.size());
}

Status PlanRunner::Impl::load_batch(const Batch& batch) {
  if (batch.sequences.size() > static_cast<size_t>(limits.max_seqs)) {
    return base::internal_error(format("batch: {} sequences, the runner takes {}", batch.sequences.size(), limits.max_seqs));
  }
  for (const SlotStart& start : batch.starts) {
    CS_CHECK(start.slot >= 0 && start.slot < limits.max_seqs, "slot out of range");
    slots[static_cast<size_t>(start.slot)] = std::make_unique<SlotState>(start);
  }
  view = {0, positions.data(), slices.data(), 0, cache->base()};
  sampled.clear();
  size_t total = 0;
  for (const BatchSequence& sequence : batch.sequences) {
    CS_RETURN_IF_ERROR(check_sequence(sequence));
    total += sequence.tokens.size();
    if (total > ids.size()) {
      return base::internal_error(format("batch: {} rows, the runner takes {}", total, ids.size()));
    }
    append(sequence.tokens, sequence.start_position, sequence.blocks.data());
    if (sequence.sample) {
      logit_rows[sampled.size()] = static_cast<int32_t>(view.num_tokens - 1);
      sampled.emplace_back().slot = sequence.slot;
    }
  }
  return base::ok_status();
}

void PlanRunner::Impl::execute() {
  const auto rows = static_cast<int64_t>(sampled.size());
  std::atomic<int64_t> next{0};
  auto work = [&](int worker) {
    const device::Launch launch{worker, pool->num_threads(), pool.get()};
    plan->run(launch, view, rows);
    for (int64_t row = next++; row < rows; row = next++) {
      SampledToken& out = sampled[static_cast<size_t>(row)];
      out = slots[static_cast<size_t>(out.slot)]->sample(logits_row(row), scratch[static_cast<size_t>(worker)]);
    }
  };
  pool->run(work);
}

Result<Ticket> PlanRunner::submit(const Batch& batch) {
  CS_RETURN_IF_ERROR(impl_->load_batch(batch));
  if (impl_->view.num_tokens > 0) impl_->execute();
  return impl_->next_ticket++;
}

Result<std::vector<SampledToken>> PlanRunner::wait(Ticket ticket) {
  if (ticket + 1 != impl_->next_ticket) {
    return base::internal_error(format("ticket {} was waited for, the last one given is {}", ticket, impl_->next_ticket - 1));
  }
  return std::move(impl_->sampled);
}

Result<std::vector<float>> PlanRunner::logits(std::span<const int32_t> tokens, std::span<const int32_t> rows, int32_t chunk) {
  Impl& impl = *impl_;
  const int64_t vocab = impl.limits.vocab;
  const auto step = static_cast<size_t>(chunk > 0 ? std::min(chunk, impl.limits.max_batch_tokens) : impl.limits.max_batch_tokens);
  const auto max_rows = impl.logit_rows.size();
  std::vector<int32_t> blocks((tokens.size() + 15) / 16);
  if (static_cast<int64_t>(tokens.size()) > impl.limits.max_seq_len ||
      static_cast<int64_t>(blocks.size()) > impl.limits.num_blocks) {
    return base::invalid_argument(format("{} tokens, the runner takes {}", tokens.size(), impl.limits.max_seq_len));
  }
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = static_cast<int32_t>(i);
  std::vector<float> out(rows.size() * static_cast<size_t>(vocab));
  for (size_t begin = 0; begin < tokens.size();) {
    const size_t end = std::min({tokens.size(), begin + step, begin + max_rows});
    impl.view = {0, impl.positions.data(), impl.slices.data(), 0, impl.cache->base()};
    impl.append(tokens.subspan(begin, end - begin), static_cast<int32_t>(begin), blocks.data());
    std::vector<size_t> wanted;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (static_cast<size_t>(rows[i]) < begin || static_cast<size_t>(rows[i]) >= end) continue;
      impl.logit_rows[wanted.size()] = rows[i] - static_cast<int32_t>(begin);
      wanted.push_back(i);
    }
    auto work = [&](int worker) {
      impl.plan->run({worker, impl.pool->num_threads(), impl.pool.get()}, impl.view, static_cast<int64_t>(wanted.size()));
    };
    impl.pool->run(work);
    for (size_t i = 0; i < wanted.size(); ++i) {
      std::ranges::copy(impl.logits_row(static_cast<int64_t>(i)), out.begin() + static_cast<ptrdiff_t>(wanted[i]) * vocab);
    }
    begin = end;
  }
  return out;
}

}  // namespace camshaft::runtime
