#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

namespace camshaft::base {
namespace {

TEST(ThreadPool, RunsEveryWorkerOnce) {
  for (int threads = 1; threads <= 4; ++threads) {
    ThreadPool pool(threads, Pinning::kFloat);
    EXPECT_EQ(pool.num_threads(), threads);
    std::vector<int> calls(threads);
    auto count = [&](int worker) { ++calls[worker]; };
    for (int i = 0; i < 200; ++i) pool.run(count);
    EXPECT_EQ(calls, std::vector<int>(threads, 200));
  }
}

TEST(ThreadPool, WorkersSleepAndWakeAgain) {
  ThreadPool pool(3, Pinning::kFloat);
  std::atomic<int> calls{0};
  auto count = [&](int) { ++calls; };
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    pool.run(count);
  }
  EXPECT_EQ(calls, 15);
}

TEST(ThreadPool, WaitsForASlowWorker) {
  ThreadPool pool(2, Pinning::kFloat);
  bool done = false;
  auto slow = [&](int worker) {
    if (worker != 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    done = true;
  };
  pool.run(slow);
  EXPECT_TRUE(done);
}

// Each phase reads what all workers wrote in the phase before.
TEST(ThreadPool, BarrierSeparatesPhases) {
  constexpr int kThreads = 3, kPhases = 500;
  ThreadPool pool(kThreads, Pinning::kFloat);
  std::array<std::array<int, kThreads>, 2> values{};
  std::atomic<int> wrong{0};
  auto phases = [&](int worker) {
    for (int phase = 0; phase < kPhases; ++phase) {
      values[phase % 2][worker] = phase;
      if (worker == phase % 97) std::this_thread::yield();
      pool.barrier();
      for (int value : values[phase % 2]) wrong += value != phase;
    }
  };
  pool.run(phases);
  pool.run(phases);
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, PinningRestoresTheCaller) {
  const unsigned before = std::thread::hardware_concurrency();
  {
    ThreadPool pool(2, Pinning::kPin);
    auto nothing = [](int) {};
    pool.run(nothing);
  }
  EXPECT_EQ(std::thread::hardware_concurrency(), before);
}

TEST(ThreadPool, MoreThreadsThanCoresMakeProgress) {
  ThreadPool pool(16, Pinning::kPin);
  std::atomic<int> calls{0};
  auto job = [&](int) {
    ++calls;
    pool.barrier();
  };
  for (int i = 0; i < 20; ++i) pool.run(job);
  EXPECT_EQ(calls, 320);
}

// The best of many short rounds: other processes may hold the cores in between.
double best_nanoseconds(int repeats, const auto& round) {
  double best = 1e9;
  for (int i = 0; i < 200; ++i) {
    const auto start = std::chrono::steady_clock::now();
    round(repeats);
    best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count() / repeats);
  }
  return best;
}

// Only prints: the machine may be busy.
TEST(ThreadPool, PrintsForkJoinAndBarrierCost) {
  ThreadPool pool(2, Pinning::kPin);
  auto nothing = [](int) {};
  const double fork_join = best_nanoseconds(100, [&](int repeats) {
    for (int i = 0; i < repeats; ++i) pool.run(nothing);
  });
  const double barrier = best_nanoseconds(100, [&](int repeats) {
    auto barriers = [&](int) {
      for (int i = 0; i < repeats; ++i) pool.barrier();
    };
    pool.run(barriers);
  });
  printf("fork-join %.0f ns, barrier %.0f ns (2 threads, best of 200 rounds)\n", fork_join, barrier);
}

TEST(WorkShare, CoversEverythingInGrains) {
  for (int64_t count : {0, 1, 15, 16, 17, 100, 577}) {
    for (int workers = 1; workers <= 5; ++workers) {
      int64_t next = 0;
      for (int worker = 0; worker < workers; ++worker) {
        const WorkRange range = work_share(count, 16, worker, workers);
        EXPECT_EQ(range.begin, next);
        EXPECT_TRUE(range.begin % 16 == 0 || range.begin == count);
        next = range.end;
      }
      EXPECT_EQ(next, count);
    }
  }
}

}  // namespace
}  // namespace camshaft::base
