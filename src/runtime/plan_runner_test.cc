// A hand-written plan over the reference kernels: limits that options and engine disagree on, plans this binary cannot bind,
// batches the executor must not send, and results that do not depend on chunks or company.
#include "runtime/plan_runner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/test_engine.h"
#include "runtime/kv_cache.h"

namespace camshaft::runtime {
namespace {

using engine::EngineMeta;

Result<std::shared_ptr<const engine::Engine>> engine_of(const EngineMeta& meta) {
  const engine::TestFile file("runner.engine");
  CS_RETURN_IF_ERROR(engine::write_engine(file.path, meta, engine::fill_test_constant).status());
  CS_ASSIGN_OR_RETURN(auto engine, engine::Engine::load(file.path, engine::test_load_options()));
  return std::shared_ptr<const engine::Engine>(std::move(engine));
}

RunnerOptions options() {
  RunnerOptions out;
  out.max_seqs = 3;
  out.prefill_chunk = 16;
  out.num_threads = 2;
  out.pinning = base::Pinning::kFloat;
  return out;
}

Result<std::unique_ptr<PlanRunner>> open(const EngineMeta& meta, const RunnerOptions& how) {
  CS_ASSIGN_OR_RETURN(auto engine, engine_of(meta));
  return PlanRunner::make(std::move(engine), how);
}

std::unique_ptr<PlanRunner> runner() {
  auto made = open(engine::test_meta(), options());
  EXPECT_TRUE(made.ok()) << made.status().message();
  return std::move(*made);
}

TEST(PlanRunner, LimitsComeFromPlanAndOptions) {
  const RunnerLimits limits = runner()->limits();
  EXPECT_EQ(limits.num_blocks, 3 * 4);
  EXPECT_EQ(limits.max_seqs, 3);
  EXPECT_EQ(limits.max_batch_tokens, 19);
  EXPECT_EQ(limits.max_seq_len, 64);
  EXPECT_EQ(limits.vocab, 32);
  EXPECT_EQ(limits.block_tokens, 16);
}

TEST(PlanRunner, OptionsBeyondTheEngineNameBothValues) {
  const auto message = [](auto change) {
    RunnerOptions how = options();
    change(how);
    const auto made = open(engine::test_meta(), how);
    EXPECT_FALSE(made.ok());
    return made.ok() ? std::string() : made.status().message();
  };
  EXPECT_EQ(message([](auto& o) { o.max_seqs = 5; }),
            "--max-seqs is 5, the engine was built for at most 4; build it with a larger --max-logit-rows");
  EXPECT_EQ(
      message([](auto& o) { o.prefill_chunk = 30; }),
      "--prefill-chunk 30 plus --max-seqs 3 is 33 rows a step, the engine was built for 32; lower one of them, or build it with "
      "a larger --max-rows");
  EXPECT_EQ(message([](auto& o) { o.max_seq_len = 65; }), "--max-seq-len is 65, the model's context length is 64");
  EXPECT_EQ(message([](auto& o) { o.num_threads = 5; }), "--threads is 5, the engine was built for at most 4");
  EXPECT_EQ(message([](auto& o) { o.kv_memory_bytes = 3 * 1024; }),
            "the cache budget of 3072 bytes holds 3 blocks of 16 tokens; one sequence of 64 tokens needs 4: raise --kv-memory or "
            "lower --max-seq-len");
}

TEST(KvBlocks, AsManyAsNeededOrAsFit) {
  const ops::KvLayout layout{tensor::Format::kF16, ops::KvLayout::KeyOrder::kDimMajor, 2, 1, 8};  // 1 KiB a block
  EXPECT_EQ(layout.block_bytes(), 1024);
  EXPECT_EQ(plan_kv_blocks(layout, 4, 33, 0).value(), 12);
  EXPECT_EQ(plan_kv_blocks(layout, 4, 33, 100 * 1024).value(), 12);
  EXPECT_EQ(plan_kv_blocks(layout, 4, 33, 10 * 1024 + 1023).value(), 10);
  EXPECT_EQ(plan_kv_blocks(layout, 4, 33, 3 * 1024).value(), 3);
  EXPECT_EQ(plan_kv_blocks(layout, 4, 33, 3 * 1024 - 1).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(plan_kv_blocks(layout, 1, 1, 1).status().message(),
            "the cache budget of 1 bytes holds 0 blocks of 16 tokens; one sequence of 1 tokens needs 1: raise --kv-memory or lower "
            "--max-seq-len");
}

TEST(PlanRunner, PlansThisBinaryCannotRun) {
  const auto message = [](auto change) {
    EngineMeta meta = engine::test_meta();
    change(meta);
    const auto made = open(meta, options());
    EXPECT_FALSE(made.ok());
    return made.ok() ? std::string() : made.status().message();
  };
  EXPECT_EQ(message([](auto& m) { m.plan.steps[2].kernel = "gemm_of_tomorrow"; }),
            "step 'qkv': kernel 'gemm_of_tomorrow' is unknown to this Camshaft; build the engine again");
  EXPECT_EQ(message([](auto& m) { m.plan.steps[2].kernel = "add_ref"; }),
            "step 'qkv': kernel 'add_ref' is unknown to this Camshaft; build the engine again");
  EXPECT_EQ(message([](auto& m) { m.plan.steps[2].tactics[1] = 9; }),
            "step 'qkv': kernel 'gemm_ref' has no tactic 9; build the engine again");
  EXPECT_EQ(message([](auto& m) { m.plan.constants[2].layout = "spiral"; }),
            "step 'qkv': weight layout 'spiral' is unknown to this Camshaft; build the engine again");
  EXPECT_EQ(message([](auto& m) { m.plan.constants[2].layout = "rows_f16"; }),
            "step 'qkv': its weight 'qkv' has layout 'rows_f16', kernel 'gemm_ref' reads 'rows_f32'; build the engine again");
  EXPECT_EQ(message([](auto& m) { m.plan.constants[2].bytes = 64; }),
            "constant 'qkv': 64 bytes of format 'f32' do not fit layout 'rows_f32' of [32, 16]; build the engine again");
  EXPECT_NE(message([](auto& m) {
              m.plan.steps[4].workspace_offset = m.plan.arena_bytes / 64 * 64;
            }).find("step 'attend': its workspace of "),
            std::string::npos);
  EXPECT_NE(message([](auto& m) { m.fingerprint.isa = "avx1024"; }).find("avx1024"), std::string::npos);
}

BatchSequence sequence(int32_t slot, int32_t start, std::vector<int32_t> tokens) {
  BatchSequence out{slot, start, std::move(tokens), {}, true};
  const auto end = static_cast<int32_t>(out.tokens.size()) + start;
  for (int32_t block = 0; block * 16 < end; ++block) out.blocks.push_back(slot * 4 + block);
  return out;
}

SlotStart greedy(int32_t slot) {
  SlotStart out;
  out.slot = slot;
  out.sampling.temperature = 0;
  return out;
}

TEST(PlanRunner, BadBatchesAreRefused) {
  const auto made = runner();
  const auto message = [&](const Batch& batch) {
    const auto ticket = made->submit(batch);
    EXPECT_EQ(ticket.status().code(), Code::kInternal);
    return ticket.ok() ? std::string() : ticket.status().message();
  };
  const auto with = [](auto change) {
    Batch batch{{greedy(0)}, {sequence(0, 0, {1, 2, 3})}};
    change(batch.sequences[0]);
    return batch;
  };
  EXPECT_EQ(message(with([](auto& s) { s.slot = 3; })), "batch: slot 3 of 3, positions 0 to 3 of 64 in 1 blocks");
  EXPECT_EQ(message(with([](auto& s) { s.slot = -1; })), "batch: slot -1 of 3, positions 0 to 3 of 64 in 1 blocks");
  EXPECT_EQ(message(with([](auto& s) { s.tokens.clear(); })), "batch: slot 0 of 3, positions 0 to 0 of 64 in 1 blocks");
  EXPECT_EQ(message(with([](auto& s) { s.start_position = 62; })), "batch: slot 0 of 3, positions 62 to 65 of 64 in 1 blocks");
  EXPECT_EQ(message(with([](auto& s) { s.start_position = -1; })), "batch: slot 0 of 3, positions -1 to 2 of 64 in 1 blocks");
  EXPECT_EQ(message(with([](auto& s) { s.start_position = 14; })), "batch: slot 0 of 3, positions 14 to 17 of 64 in 1 blocks");
  EXPECT_EQ(message(with([](auto& s) { s.tokens[1] = 32; })), "batch: token 32 of 32");
  EXPECT_EQ(message(with([](auto& s) { s.tokens[1] = -1; })), "batch: token -1 of 32");
  EXPECT_EQ(message(with([](auto& s) { s.blocks[0] = 12; })), "batch: block 12 of 12");
  EXPECT_EQ(message(with([](auto& s) { s.slot = 1; })), "batch: slot 1 samples before it was started");
  Batch wide{{}, {sequence(0, 0, std::vector<int32_t>(12)), sequence(1, 0, std::vector<int32_t>(8))}};
  for (auto& each : wide.sequences) each.sample = false;
  EXPECT_EQ(message(wide), "batch: 20 rows, the runner takes 19");
  EXPECT_EQ(message({{}, std::vector<BatchSequence>(4, sequence(0, 0, {1}))}), "batch: 4 sequences, the runner takes 3");
  EXPECT_EQ(made->wait(99).status().message(), "ticket 99 was waited for, the last one given is 0");
  EXPECT_FALSE(made->logits(std::vector<int32_t>(65), {}).ok());
}

TEST(PlanRunner, SamplesWhatTheLogitsSayWhateverTheCompany) {
  const auto made = runner();
  const std::vector<int32_t> prompt = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8};
  const std::vector<int32_t> last = {static_cast<int32_t>(prompt.size()) - 1};
  const auto logits = made->logits(prompt, last);
  ASSERT_TRUE(logits.ok()) << logits.status().message();
  const auto best = static_cast<int32_t>(std::ranges::max_element(*logits) - logits->begin());
  for (const int32_t chunk : {1, 5, 18}) EXPECT_TRUE(made->logits(prompt, last, chunk).value() == *logits) << chunk;

  const auto run = [&](const Batch& batch) {
    const auto ticket = made->submit(batch);
    EXPECT_TRUE(ticket.ok()) << ticket.status().message();
    return made->wait(ticket.value()).value();
  };
  const auto alone = run({{greedy(0)}, {sequence(0, 0, prompt)}});
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].token, best);
  // In two pieces beside two others; one of them does not sample yet.
  const std::vector<int32_t> head(prompt.begin(), prompt.begin() + 9), tail(prompt.begin() + 9, prompt.end());
  Batch first{{greedy(1)}, {sequence(2, 0, {7, 7}), sequence(1, 0, head)}};
  first.sequences[0].sample = first.sequences[1].sample = false;
  EXPECT_TRUE(run(first).empty());
  const auto both = run({{greedy(2)}, {sequence(2, 2, {8}), sequence(1, 9, tail)}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].slot, 2);
  EXPECT_EQ(both[1].slot, 1);
  EXPECT_EQ(both[1].token, best);
  EXPECT_TRUE(run({}).empty());
}

}  // namespace
}  // namespace camshaft::runtime
