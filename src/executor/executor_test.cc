// The executor's thread, its queues and its ends. Order is made by gates in the runner, never by sleeping.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

#include "executor/batching_executor.h"
#include "executor/fake_runner.h"

namespace camshaft::executor {
namespace {

using api::FinishReason;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ManualClock final : public base::Clock {
 public:
  base::SteadyTime now() const override { return base::SteadyTime(std::chrono::milliseconds(ms_.load())); }
  void advance(int64_t ms) { ms_ += ms; }

 private:
  std::atomic<int64_t> ms_{1000};
};

// Holds the runner's steps: each needs a permit. The test sees when a step has begun.
class Gate {
 public:
  Status pass() {
    std::unique_lock lock(mutex_);
    ++begun_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return permits_ > 0; });
    --permits_;
    return failure_;
  }
  void wait_begun(int64_t steps) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_ >= steps; });
  }
  void open(int64_t permits = 1'000'000, Status failure = {}) {
    const std::lock_guard lock(mutex_);
    permits_ += permits;
    failure_ = std::move(failure);
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int64_t begun_ = 0;
  int64_t permits_ = 0;
  Status failure_;
};

struct Output {
  std::vector<int32_t> tokens;
  FinishReason finish = FinishReason::kNone;
  Status error;
  int ends = 0;
};

void collect(const std::vector<api::TokenEvent>& events, std::map<api::RequestId, Output>& outputs, int& ended) {
  for (const api::TokenEvent& event : events) {
    Output& output = outputs[event.request];
    if (event.token >= 0) output.tokens.push_back(event.token);
    if (event.finish == FinishReason::kNone) continue;
    output.finish = event.finish;
    output.error = event.error;
    ++output.ends;
    ++ended;
  }
}

std::map<api::RequestId, Output> collect_until(EventQueue& queue, int ends) {
  std::map<api::RequestId, Output> outputs;
  int ended = 0;
  while (ended < ends) collect(queue.wait(), outputs, ended);
  return outputs;
}

class ExecutorTest : public testing::Test {
 protected:
  static constexpr runtime::RunnerLimits kLimits = {
      .num_blocks = 24, .block_tokens = 4, .max_seqs = 8, .max_batch_tokens = 24, .max_seq_len = 64, .vocab = 97};

  static api::Request request(api::RequestId id, int32_t prompt, int32_t max_tokens) {
    api::Request out{.id = id, .stop = {.max_tokens = max_tokens, .stop_ids = {5}}};
    for (int32_t i = 0; i < prompt; ++i) out.prompt.push_back(static_cast<int32_t>((id * 31 + static_cast<uint64_t>(i) * 7) % 97));
    out.sampling.seed = id;
    return out;
  }

  void start(Gate* gate = nullptr) {
    auto runner = std::make_unique<FakeRunner>(kLimits);
    if (gate != nullptr) runner->on_wait = [gate] { return gate->pass(); };
    auto started = start_executor(std::move(runner), options_, clock_, registry_);
    ASSERT_TRUE(started.ok()) << started.status().message();
    executor_ = std::move(*started);
  }

  // How many were taken before the refusal.
  int submit_until_draining() {
    int taken = 0;
    for (api::RequestId id = 1000;; ++id) {
      const Status answer = executor_->submit(request(id, 1, 1), queue_);
      if (answer.reason() == "draining") return taken;
      if (answer.ok()) ++taken;
      std::this_thread::yield();
    }
  }

  ExecutorOptions options_{.max_queued_requests = 64, .prefill_chunk = 16, .model_name = "tiny"};
  ManualClock clock_;
  base::MetricsRegistry registry_;
  EventQueue queue_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ExecutorTest, ManyThreadsGetTheirSingleRunOutputs) {
  start();
  std::vector<std::thread> clients;
  for (uint64_t client = 0; client < 4; ++client) {
    clients.emplace_back([this, client] {
      EventQueue queue;
      for (uint64_t i = 0; i < 8; ++i) {
        const uint64_t id = client * 100 + i;
        ASSERT_TRUE(executor_->submit(request(id, 1 + static_cast<int32_t>(id % 40), 20), queue).ok());
      }
      for (const auto& [id, output] : collect_until(queue, 8)) {
        const Expected expected = expected_output(request(id, 1 + static_cast<int32_t>(id % 40), 20), 64, 97);
        EXPECT_EQ(output.tokens, expected.tokens);
        EXPECT_EQ(output.finish, expected.finish);
        EXPECT_EQ(output.ends, 1);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  executor_->drain(clock_.now());
  EXPECT_EQ(executor_->stats().blocks_used, 0);
  EXPECT_EQ(executor_->stats().running + executor_->stats().waiting, 0);
}

TEST_F(ExecutorTest, RefusesWhatCannotRun) {
  start();
  EXPECT_EQ(executor_->limits().max_seq_len, 64);
  EXPECT_EQ(executor_->limits().max_prompt_tokens, 63);
  const Status too_long = executor_->submit(request(1, 64, 1), queue_);
  EXPECT_EQ(too_long.code(), Code::kInvalidArgument);
  EXPECT_EQ(too_long.reason(), "context_length_exceeded");
  EXPECT_THAT(too_long.message(), HasSubstr("64"));
  EXPECT_EQ(executor_->submit(request(2, 0, 1), queue_).subject(), "prompt");
  EXPECT_EQ(executor_->submit(request(3, 2, 0), queue_).subject(), "max_tokens");
  api::Request wrong = request(4, 3, 4);
  wrong.prompt[1] = 97;
  EXPECT_THAT(executor_->submit(wrong, queue_).message(), HasSubstr("97"));
  ASSERT_TRUE(executor_->submit(request(5, 63, 100), queue_).ok());
  const auto outputs = collect_until(queue_, 1);
  EXPECT_EQ(outputs.at(5).tokens.size(), 1u);
  EXPECT_EQ(outputs.at(5).finish, FinishReason::kLength);
}

TEST_F(ExecutorTest, AFullQueueIsAnAnswer) {
  options_.max_queued_requests = 2;
  Gate gate;
  start(&gate);
  ASSERT_TRUE(executor_->submit(request(1, 4, 3), queue_).ok());
  gate.wait_begun(1);  // 1 runs, and its step is held: what comes now waits in the mailbox
  EXPECT_EQ(executor_->stats().running, 1);
  ASSERT_TRUE(executor_->submit(request(2, 4, 3), queue_).ok());
  ASSERT_TRUE(executor_->submit(request(3, 4, 3), queue_).ok());
  const Status refused = executor_->submit(request(4, 4, 3), queue_);
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_EQ(refused.reason(), "queue_full");
  gate.open();
  collect_until(queue_, 3);
  EXPECT_THAT(registry_.expose(),
              HasSubstr("camshaft_admission_rejections_total{model_name=\"tiny\",engine=\"0\",reason=\"queue_full\"} 1"));
}

TEST_F(ExecutorTest, CancelEndsAtTheNextStep) {
  Gate gate;
  start(&gate);
  ASSERT_TRUE(executor_->submit(request(1, 4, 50), queue_).ok());
  ASSERT_TRUE(executor_->submit(request(2, 4, 50), queue_).ok());
  gate.wait_begun(1);
  executor_->cancel(1, FinishReason::kAbort);
  executor_->cancel(2, FinishReason::kStop);
  executor_->cancel(77, FinishReason::kStop);
  gate.open();
  const auto outputs = collect_until(queue_, 2);
  EXPECT_EQ(outputs.at(1).finish, FinishReason::kAbort);
  EXPECT_EQ(outputs.at(2).finish, FinishReason::kStop);
  EXPECT_LE(outputs.at(1).tokens.size(), 1u);
  executor_->cancel(1, FinishReason::kStop);  // long gone
  executor_->drain(clock_.now());
  EXPECT_EQ(executor_->stats().blocks_used, 0);
  EXPECT_TRUE(queue_.take().empty());
}

TEST_F(ExecutorTest, DeadlineIsTheClocks) {
  Gate gate;
  start(&gate);
  api::Request late = request(1, 4, 50);
  late.stop.stop_ids.clear();
  late.deadline = clock_.now() + std::chrono::milliseconds(10);
  ASSERT_TRUE(executor_->submit(late, queue_).ok());
  gate.wait_begun(1);
  clock_.advance(10);
  gate.open();
  EXPECT_EQ(collect_until(queue_, 1).at(1).finish, FinishReason::kAbort);
}

TEST_F(ExecutorTest, DrainWaitsAndRefuses) {
  Gate gate;
  start(&gate);
  ASSERT_TRUE(executor_->submit(request(1, 4, 6), queue_).ok());
  gate.wait_begun(1);
  std::thread drainer([this] { executor_->drain(clock_.now() + std::chrono::hours(1)); });
  const int taken = submit_until_draining();
  gate.open();
  drainer.join();
  const auto outputs = collect_until(queue_, 1 + taken);  // nothing has to be waited for
  EXPECT_EQ(outputs.at(1).tokens, expected_output(request(1, 4, 6), 64, 97).tokens);
  EXPECT_EQ(executor_->stats().running, 0);
}

TEST_F(ExecutorTest, DrainPastItsDeadlineAborts) {
  Gate gate;
  start(&gate);
  api::Request endless = request(1, 4, 60);
  endless.stop.stop_ids.clear();
  ASSERT_TRUE(executor_->submit(endless, queue_).ok());
  gate.wait_begun(1);
  gate.open(1);
  gate.wait_begun(2);
  std::thread drainer([this] { executor_->drain(clock_.now()); });
  const int taken = submit_until_draining();
  gate.open();
  drainer.join();
  for (const auto& [id, output] : collect_until(queue_, 1 + taken)) EXPECT_EQ(output.finish, FinishReason::kAbort);
}

TEST_F(ExecutorTest, ALostDeviceEndsAll) {
  Gate gate;
  start(&gate);
  for (api::RequestId id = 1; id <= 12; ++id) ASSERT_TRUE(executor_->submit(request(id, 9, 40), queue_).ok());
  gate.wait_begun(1);
  gate.open(1'000'000, base::io_error("the device fell off the bus", 5));
  const auto outputs = collect_until(queue_, 12);
  for (const auto& [id, output] : outputs) {
    EXPECT_EQ(output.finish, FinishReason::kError);
    EXPECT_EQ(output.ends, 1);
    EXPECT_THAT(output.error.message(), HasSubstr("bus"));
  }
  const Status refused = executor_->submit(request(50, 3, 3), queue_);
  EXPECT_EQ(refused.code(), Code::kUnavailable);
  EXPECT_EQ(refused.reason(), "device_lost");
  executor_->drain(clock_.now());
  EXPECT_EQ(executor_->stats().blocks_used, 0);
}

TEST_F(ExecutorTest, ALostDeviceIsNotHealthy) {
  Gate gate;
  start(&gate);
  EXPECT_TRUE(executor_->stats().health.ok());
  ASSERT_TRUE(executor_->submit(request(1, 9, 40), queue_).ok());
  gate.wait_begun(1);
  EXPECT_TRUE(executor_->stats().health.ok());
  gate.open(1'000'000, base::io_error("the device fell off the bus", 5));
  collect_until(queue_, 1);
  const Status health = executor_->stats().health;
  EXPECT_EQ(health.code(), Code::kUnavailable);
  EXPECT_EQ(health.reason(), "device_lost");
  // What the device said is for the log, not for clients.
  EXPECT_THAT(health.message(), Not(HasSubstr("bus")));
  EXPECT_THAT(executor_->submit(request(2, 3, 3), queue_).message(), Not(HasSubstr("bus")));
}

TEST_F(ExecutorTest, AStepThatHangsIsNotHealthyUntilItEnds) {
  options_.step_timeout_s = 2;
  Gate gate;
  start(&gate);
  clock_.advance(10'000);  // asleep is not stuck
  EXPECT_TRUE(executor_->stats().health.ok());
  ASSERT_TRUE(executor_->submit(request(1, 4, 3), queue_).ok());
  gate.wait_begun(1);
  clock_.advance(2'000);
  EXPECT_TRUE(executor_->stats().health.ok());
  clock_.advance(1'500);
  const Status health = executor_->stats().health;
  EXPECT_EQ(health.code(), Code::kUnavailable);
  EXPECT_EQ(health.reason(), "step_stuck");
  EXPECT_THAT(health.message(), AllOf(HasSubstr("3.5 s"), HasSubstr("2.0")));
  EXPECT_EQ(executor_->submit(request(2, 4, 3), queue_).reason(), "step_stuck");
  gate.open(1);
  gate.wait_begun(2);  // the next step has a time of its own
  EXPECT_TRUE(executor_->stats().health.ok());
  gate.open();
  EXPECT_EQ(collect_until(queue_, 1).at(1).ends, 1);
  ASSERT_TRUE(executor_->submit(request(3, 4, 3), queue_).ok());
  collect_until(queue_, 1);
}

TEST_F(ExecutorTest, GoingAwayAbortsWhatRuns) {
  Gate gate;
  start(&gate);
  for (api::RequestId id = 1; id <= 3; ++id) ASSERT_TRUE(executor_->submit(request(id, 9, 40), queue_).ok());
  gate.wait_begun(1);
  std::thread closer([this] { executor_.reset(); });
  gate.open(2);
  gate.open();
  closer.join();
  for (const auto& [id, output] : collect_until(queue_, 3)) EXPECT_EQ(output.ends, 1);
}

TEST_F(ExecutorTest, MetricsTellWhatHappened) {
  start();
  EXPECT_THAT(registry_.expose(),
              HasSubstr("camshaft_requests_total{model_name=\"tiny\",engine=\"0\",finished_reason=\"error\"} 0"));
  api::Request one = request(1, 7, 3);
  one.stop.stop_ids.clear();
  ASSERT_TRUE(executor_->submit(one, queue_).ok());
  collect_until(queue_, 1);
  executor_->drain(clock_.now());
  const std::string text = registry_.expose();
  const std::string labels = "{model_name=\"tiny\",engine=\"0\"}";
  const std::vector<std::string> lines = {
      "camshaft_prompt_tokens_total" + labels + " 7",
      "vllm:generation_tokens_total" + labels + " 3",
      "camshaft_time_to_first_token_seconds_count" + labels + " 1",
      "vllm:inter_token_latency_seconds_count" + labels + " 2",
      "camshaft_kv_cache_blocks{model_name=\"tiny\",engine=\"0\",state=\"free\",tier=\"device\"} 24",
      "camshaft_iteration_tokens_count{model_name=\"tiny\",engine=\"0\",phase=\"decode\"} 2",
      "camshaft_requests_total{model_name=\"tiny\",engine=\"0\",finished_reason=\"length\"} 1"};
  for (const std::string& line : lines) EXPECT_THAT(text, HasSubstr(line + "\n"));
}

TEST(StartExecutor, RefusesLimitsThatCannotRun) {
  base::MetricsRegistry registry;
  runtime::RunnerLimits limits{.num_blocks = 0, .max_seqs = 1, .max_batch_tokens = 1, .max_seq_len = 8, .vocab = 2};
  const auto started = start_executor(std::make_unique<FakeRunner>(limits), {}, base::steady_clock(), registry);
  EXPECT_EQ(started.status().code(), Code::kInvalidArgument);
}

TEST(EventQueue, CallsOnceUntilEmptied) {
  int calls = 0;
  EventQueue queue([&] { ++calls; });
  queue.push({});
  EXPECT_EQ(calls, 0);
  queue.push({{.request = 1}});
  queue.push({{.request = 2}, {.request = 3}});
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(queue.take().size(), 3u);
  queue.push({{.request = 4}});
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(queue.wait().front().request, 4u);
}

}  // namespace
}  // namespace camshaft::executor
