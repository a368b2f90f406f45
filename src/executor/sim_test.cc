// The scheduler in a simulator: one thread, virtual time, everything from one seed. A failure prints the seed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "executor/fake_runner.h"
#include "executor/scheduler.h"

namespace camshaft::executor {
namespace {

using api::FinishReason;

constexpr int kSeeds = 1500;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}
  uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1Du >> 11;
  }
  int32_t between(int32_t low, int32_t high) { return low + static_cast<int32_t>(next() % static_cast<uint64_t>(high - low + 1)); }
  bool chance(int32_t percent) { return between(1, 100) <= percent; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[next() % values.size()];
  }

 private:
  uint64_t state_;
};

struct World {
  runtime::RunnerLimits limits;
  int32_t prefill_chunk = 1;
  int32_t requests = 1;
  int32_t cancel_percent = 0;
  int32_t deadline_percent = 0;
  int32_t arrivals_percent = 50;
  bool long_outputs = false;  // from short prompts: many are admitted, then the cache runs out
};

World random_world(Random& random) {
  World world;
  world.limits.block_tokens = random.pick({1, 2, 4, 16});
  world.limits.num_blocks = random.pick({2, 4, 8, 32, 64});
  world.limits.max_seqs = random.between(1, 9);
  world.limits.max_seq_len = random.between(4, 70);
  world.limits.vocab = random.pick({11, 101});
  world.prefill_chunk = random.pick({1, 2, 3, 7, 16, 64});
  world.limits.max_batch_tokens = random.chance(70) ? world.limits.max_seqs + world.prefill_chunk : random.between(1, 12);
  world.requests = random.between(1, 24);
  world.cancel_percent = random.pick({0, 5, 30});
  world.deadline_percent = random.pick({0, 0, 20});
  world.arrivals_percent = random.pick({5, 50, 100});
  world.long_outputs = random.chance(40);
  if (sequence_capacity(world.limits) < 2) world.limits.num_blocks = 4;
  return world;
}

class Simulator {
 public:
  Simulator(const World& world, Random random)
      : world_(world),
        random_(random),
        metrics_(registry_, "sim", world.limits.max_seq_len),
        runner_(world.limits),
        scheduler_(world.limits, world.prefill_chunk, metrics_) {}

  void run() {
    for (int turn = 0; turn < 100'000; ++turn) {
      if (sent_ == world_.requests && scheduler_.empty()) return check_end();
      arrive();
      cancel_some();
      now_ += std::chrono::milliseconds(1);
      scheduler_.expire(now_);
      step();
      collect();
      const Status kept = check_invariants(scheduler_.snapshot());
      ASSERT_TRUE(kept.ok()) << kept.message();
      if (testing::Test::HasFailure()) return;
    }
    FAIL() << "no end in sight: " << scheduler_.stats().waiting << " wait, " << scheduler_.stats().running << " run";
  }

  int64_t preemptions() const { return scheduler_.stats().preemptions; }

 private:
  struct Life {
    api::Request request;
    std::vector<int32_t> tokens;
    FinishReason finish = FinishReason::kNone;
    FinishReason cancelled = FinishReason::kNone;
  };

  void arrive() {
    while (sent_ < world_.requests && random_.chance(world_.arrivals_percent)) {
      api::Request request = make_request();
      lives_[request.id].request = request;
      scheduler_.add(std::move(request), queue_);
      if (random_.chance(30)) return;
    }
  }

  api::Request make_request() {
    const int32_t fitting = sequence_capacity(world_.limits) - 1;
    const int32_t longest = world_.long_outputs ? std::min(4, fitting) : fitting;
    api::Request request{.id = static_cast<api::RequestId>(++sent_) * 7};
    request.prompt.resize(static_cast<size_t>(random_.chance(20) ? longest : random_.between(1, longest)));
    for (int32_t& token : request.prompt) token = random_.between(0, world_.limits.vocab - 1);
    request.sampling.seed = random_.next();
    request.sampling.repetition_penalty = random_.pick({1.0f, 1.1f});
    request.stop.max_tokens = world_.long_outputs ? 1'000'000 : random_.pick({1, 2, 5, 30, 1'000'000});
    request.stop.min_tokens = random_.pick({0, 0, 3});
    if (random_.chance(world_.long_outputs ? 10 : 60)) request.stop.stop_ids = {random_.between(0, world_.limits.vocab - 1)};
    request.arrival = now_;
    if (random_.chance(world_.deadline_percent)) request.deadline = now_ + std::chrono::milliseconds(random_.between(0, 60));
    return request;
  }

  void cancel_some() {
    if (!random_.chance(world_.cancel_percent) || sent_ == 0) return;
    const auto id = static_cast<api::RequestId>(random_.between(1, sent_)) * 7;
    const FinishReason reason = random_.pick({FinishReason::kAbort, FinishReason::kStop});
    if (lives_[id].finish == FinishReason::kNone) lives_[id].cancelled = reason;
    scheduler_.cancel(id, reason, now_);
    scheduler_.cancel(999'999, reason, now_);  // unknown
  }

  void step() {
    const runtime::Batch* batch = scheduler_.plan(now_);
    if (batch == nullptr) return;
    ASSERT_LE(scheduler_.shape().prefill_rows, world_.prefill_chunk);
    const auto ticket = runner_.submit(*batch);
    ASSERT_TRUE(ticket.ok()) << runner_.complaint;
    const Status applied = scheduler_.apply(*runner_.wait(*ticket), now_);
    ASSERT_TRUE(applied.ok()) << applied.message();
  }

  void collect() {
    for (Outgoing& out : scheduler_.outgoing()) {
      Life& life = lives_.at(out.event.request);
      ASSERT_EQ(life.finish, FinishReason::kNone) << "an event after the last";
      if (out.event.token >= 0) life.tokens.push_back(out.event.token);
      life.finish = out.event.finish;
    }
    scheduler_.outgoing().clear();
  }

  void check_end() {
    for (const auto& [id, life] : lives_) {
      const Expected expected = expected_output(life.request, sequence_capacity(world_.limits), world_.limits.vocab);
      if (life.cancelled != FinishReason::kNone || life.finish == FinishReason::kAbort) {
        EXPECT_TRUE(life.cancelled == FinishReason::kNone || life.finish == life.cancelled);
        ASSERT_LE(life.tokens.size(), expected.tokens.size());
        EXPECT_TRUE(std::equal(life.tokens.begin(), life.tokens.end(), expected.tokens.begin())) << "request " << id;
      } else {
        EXPECT_EQ(life.finish, expected.finish);
        EXPECT_EQ(life.tokens, expected.tokens) << "request " << id;
      }
    }
    EXPECT_EQ(scheduler_.stats().blocks_used, 0);
    EXPECT_EQ(scheduler_.waiting_tokens(), 0);
  }

  World world_;
  Random random_;
  base::MetricsRegistry registry_;
  ExecutorMetrics metrics_;
  FakeRunner runner_;
  Scheduler scheduler_;
  EventQueue queue_;
  std::map<api::RequestId, Life> lives_;
  int32_t sent_ = 0;
  base::SteadyTime now_;
};

TEST(Simulator, SingleRunOutputsUnderRandomWorlds) {
  int64_t preemptions = 0;
  for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const World world = random_world(random);
    Simulator simulator(world, random);
    simulator.run();
    preemptions += simulator.preemptions();
  }
  EXPECT_GT(preemptions, 1000);
}

// Four blocks where the sequences would want 32, for every chunk size.
TEST(Simulator, FourBlocksOfThirtyTwo) {
  for (int32_t chunk = 1; chunk <= 64 && !HasFailure(); ++chunk) {
    SCOPED_TRACE("chunk " + std::to_string(chunk));
    World world;
    world.limits = {
        .num_blocks = 4, .block_tokens = 16, .max_seqs = 8, .max_batch_tokens = 8 + chunk, .max_seq_len = 64, .vocab = 101};
    world.prefill_chunk = chunk;
    world.requests = 8;
    world.arrivals_percent = 100;
    Simulator simulator(world, Random(static_cast<uint64_t>(chunk) + 5000));
    simulator.run();
  }
}

// What the tests below drive by hand.
class SchedulerTest : public testing::Test {
 protected:
  static api::Request request(api::RequestId id, int32_t prompt, int32_t max_tokens) {
    return {.id = id, .prompt = std::vector<int32_t>(static_cast<size_t>(prompt), 3), .stop = {.max_tokens = max_tokens}};
  }
  void make(int32_t num_blocks, int32_t chunk) {
    limits_.num_blocks = num_blocks;
    runner_ = std::make_unique<FakeRunner>(limits_);
    metrics_ = std::make_unique<ExecutorMetrics>(registry_, "m", limits_.max_seq_len);
    scheduler_ = std::make_unique<Scheduler>(limits_, chunk, *metrics_);
  }
  // One step; the batch's rows by slot.
  std::vector<std::pair<int32_t, size_t>> step() {
    const runtime::Batch* batch = scheduler_->plan(now_);
    if (batch == nullptr) return {};
    std::vector<std::pair<int32_t, size_t>> rows;
    for (const runtime::BatchSequence& s : batch->sequences) rows.emplace_back(s.slot, s.tokens.size());
    EXPECT_TRUE(scheduler_->apply(*runner_->wait(*runner_->submit(*batch)), now_).ok());
    return rows;
  }

  runtime::RunnerLimits limits_{.block_tokens = 4, .max_seqs = 4, .max_batch_tokens = 12, .max_seq_len = 64, .vocab = 50};
  base::MetricsRegistry registry_;
  std::unique_ptr<FakeRunner> runner_;
  std::unique_ptr<ExecutorMetrics> metrics_;
  std::unique_ptr<Scheduler> scheduler_;
  EventQueue queue_;
  base::SteadyTime now_;
};

TEST_F(SchedulerTest, DecodesFirstThenPromptsInOrderOfArrival) {
  make(32, 8);
  using Rows = std::vector<std::pair<int32_t, size_t>>;
  scheduler_->add(request(1, 2, 9), queue_);
  scheduler_->add(request(2, 10, 9), queue_);
  scheduler_->add(request(3, 3, 9), queue_);
  EXPECT_EQ(step(), (Rows{{0, 2}, {1, 6}}));
  EXPECT_EQ(step(), (Rows{{0, 1}, {1, 4}, {2, 3}}));
  EXPECT_EQ(step(), (Rows{{0, 1}, {1, 1}, {2, 1}}));
}

TEST_F(SchedulerTest, PreemptsTheYoungestAndRecomputesIt) {
  make(4, 8);
  scheduler_->add(request(1, 4, 9), queue_);
  scheduler_->add(request(2, 4, 2), queue_);
  while (scheduler_->stats().preemptions == 0 && !scheduler_->empty()) step();
  ASSERT_TRUE(scheduler_->empty()) << "two blocks each are enough";
  scheduler_->outgoing().clear();
  scheduler_->add(request(3, 4, 12), queue_);
  scheduler_->add(request(4, 4, 8), queue_);
  int64_t most_waiting = 0;
  while (!scheduler_->empty()) {
    step();
    most_waiting = std::max(most_waiting, scheduler_->stats().waiting);
  }
  EXPECT_EQ(scheduler_->stats().preemptions, 1);
  EXPECT_EQ(most_waiting, 1);
  EXPECT_EQ(metrics_->preemptions.value(), 1);
  std::vector<int32_t> fourth;
  for (const Outgoing& out : scheduler_->outgoing()) {
    if (out.event.request == 4) fourth.push_back(out.event.token);
  }
  EXPECT_EQ(fourth, expected_output(request(4, 4, 8), 16, 50).tokens);
}

TEST_F(SchedulerTest, PromptThatNeverFitsIsAnError) {
  make(4, 8);
  scheduler_->add(request(1, 17, 1), queue_);
  scheduler_->add(request(2, 2, 1), queue_);
  step();
  ASSERT_EQ(scheduler_->outgoing().size(), 2u);
  EXPECT_EQ(scheduler_->outgoing()[0].event.finish, FinishReason::kError);
  EXPECT_EQ(scheduler_->outgoing()[0].event.error.code(), Code::kResourceExhausted);
  EXPECT_EQ(scheduler_->outgoing()[1].event.finish, FinishReason::kLength);
}

TEST_F(SchedulerTest, WrongResultsAreAnError) {
  make(8, 8);
  scheduler_->add(request(1, 2, 5), queue_);
  ASSERT_NE(scheduler_->plan(now_), nullptr);
  EXPECT_FALSE(scheduler_->apply({}, now_).ok());
  scheduler_->end_all(FinishReason::kError, base::internal_error("x"), now_);
  EXPECT_EQ(scheduler_->stats().blocks_used, 0);
}

TEST_F(SchedulerTest, InvariantsAreNamed) {
  make(8, 8);
  scheduler_->add(request(1, 5, 5), queue_);
  step();
  Snapshot snapshot = scheduler_->snapshot();
  EXPECT_TRUE(check_invariants(snapshot).ok());
  const auto broken = [&](auto change) {
    Snapshot changed = snapshot;
    change(changed);
    return check_invariants(changed).message();
  };
  EXPECT_THAT(broken([](Snapshot& s) { s.free_blocks.pop_back(); }), testing::HasSubstr("blocks_owned_once"));
  EXPECT_THAT(broken([](Snapshot& s) { s.free_blocks.push_back(s.running[0].blocks[0]); }),
              testing::HasSubstr("blocks_owned_once"));
  EXPECT_THAT(broken([](Snapshot& s) { s.running[0].computed = 3; }), testing::HasSubstr("tables_fit"));
  EXPECT_THAT(broken([](Snapshot& s) { s.free_slots.push_back(0); }), testing::HasSubstr("slots_owned_once"));
  EXPECT_THAT(broken([](Snapshot& s) { s.running[0].length = 5; }), testing::HasSubstr("work_left"));
}

}  // namespace
}  // namespace camshaft::executor
