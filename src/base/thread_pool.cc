// Fork and join over a generation counter: workers spin on it for a few tens of microseconds, then park on a futex; so do the
// caller at the join and everybody at a barrier. A thread that parks counts itself in the word's `sleepers` before it sleeps, and
// whoever changes the word looks at that count afterwards (both sequentially consistent), so no wake-up is lost and none is sent in
// vain.
#include "base/thread_pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <vector>

#include "base/status.h"

namespace camshaft::base {
namespace {

// Longer than the serial parts between two jobs of a decode step, much shorter than a scheduler's time slice.
constexpr auto kSpin = std::chrono::microseconds(40);
constexpr int kPausesPerLook = 16;  // pauses between two looks at the clock

// A word that threads wait on, alone in its cache line.
struct alignas(64) WaitWord {
  std::atomic<uint32_t> value{0};
  std::atomic<uint32_t> sleepers{0};

  void wake_sleepers() {
    if (sleepers.load(std::memory_order_seq_cst) == 0) return;
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&value), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
  }

  // Returns the value once it differs from `old`.
  uint32_t wait_while(uint32_t old) {
    if (spin_while(old)) return value.load(std::memory_order_acquire);
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    uint32_t now;
    while ((now = value.load(std::memory_order_seq_cst)) == old) {
      syscall(SYS_futex, reinterpret_cast<uint32_t*>(&value), FUTEX_WAIT_PRIVATE, old, nullptr, nullptr, 0);
    }
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    return now;
  }

 private:
  // Whether the value changed in time.
  bool spin_while(uint32_t old) const {
    const auto give_up = std::chrono::steady_clock::now() + kSpin;
    do {
      for (int i = 0; i < kPausesPerLook; ++i) {
        if (value.load(std::memory_order_acquire) != old) return true;
        _mm_pause();
      }
    } while (std::chrono::steady_clock::now() < give_up);
    return false;
  }
};

// Whether a processor is the first hardware thread of its core ("0-1", "0,64": the list starts with the first).
bool is_first_of_core(int cpu) {
  char path[96];
  snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  FILE* file = fopen(path, "re");
  if (file == nullptr) return true;
  int first = cpu;
  const int read = fscanf(file, "%d", &first);
  fclose(file);
  return read != 1 || first == cpu;
}

// Processors this process may use, whole cores first. Empty where there are fewer than `wanted`.
std::vector<int> pin_targets(int wanted) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < wanted) return {};
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) cpus.push_back(cpu);
  }
  std::stable_partition(cpus.begin(), cpus.end(), is_first_of_core);
  return cpus;
}

void pin_thread(pthread_t thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(thread, sizeof(set), &set);  // best effort: an unpinned worker is only slower
}

}  // namespace

struct ThreadPool::Impl {
  Impl(int num_threads, Pinning pinning) : size(num_threads) {
    if (pinning == Pinning::kPin && size > 1) cpus = pin_targets(size);
    for (int worker = 1; worker < size; ++worker) {
      threads.emplace_back([this, worker] { work(worker); });
      if (!cpus.empty()) pin_thread(threads.back().native_handle(), cpus[worker]);
    }
  }

  ~Impl() {
    stopping = true;
    announce();
    for (std::thread& thread : threads) thread.join();
    if (caller && pthread_equal(*caller, pthread_self())) pthread_setaffinity_np(*caller, sizeof(caller_mask), &caller_mask);
  }

  void announce() {
    generation.value.fetch_add(1, std::memory_order_seq_cst);
    generation.wake_sleepers();
  }

  void work(int worker) {
    uint32_t seen = 0;
    while (true) {
      seen = generation.wait_while(seen);
      if (stopping) return;
      (*function)(worker);
      if (unfinished.value.fetch_sub(1, std::memory_order_seq_cst) == 1) unfinished.wake_sleepers();
    }
  }

  void run(WorkerFunction& job) {
    pin_caller();
    function = &job;
    unfinished.value.store(static_cast<uint32_t>(size - 1), std::memory_order_relaxed);
    announce();
    job(0);
    uint32_t left = unfinished.value.load(std::memory_order_acquire);
    while (left != 0) left = unfinished.wait_while(left);
  }

  void barrier() {
    const uint32_t phase = barrier_phase.value.load(std::memory_order_acquire);
    if (barrier_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < static_cast<uint32_t>(size)) {
      barrier_phase.wait_while(phase);
      return;
    }
    barrier_arrived.store(0, std::memory_order_relaxed);
    barrier_phase.value.fetch_add(1, std::memory_order_seq_cst);
    barrier_phase.wake_sleepers();
  }

  // Worker 0 is whoever calls run(). A floating caller could sit on a pinned worker's core for milliseconds, so it is pinned too.
  void pin_caller() {
    if (cpus.empty() || (caller && pthread_equal(*caller, pthread_self()))) return;
    caller = pthread_self();
    pthread_getaffinity_np(*caller, sizeof(caller_mask), &caller_mask);
    pin_thread(*caller, cpus[0]);
  }

  const int size;
  std::vector<int> cpus;  // where worker i is pinned; empty: nowhere
  std::optional<pthread_t> caller;
  cpu_set_t caller_mask;  // before it was pinned

  // Written by the caller before `generation` moves, read by workers after they saw it move.
  WorkerFunction* function = nullptr;
  bool stopping = false;

  WaitWord generation;     // one job each
  WaitWord unfinished;     // workers still in the job
  WaitWord barrier_phase;  // one barrier each
  alignas(64) std::atomic<uint32_t> barrier_arrived{0};
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(int num_threads, Pinning pinning) {
  CS_CHECK(num_threads >= 1, "a pool has at least the caller");
  impl_ = std::make_unique<Impl>(num_threads, pinning);
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::num_threads() const { return impl_->size; }

void ThreadPool::run(WorkerFunction function) {
  if (impl_->size == 1) {
    function(0);
  } else {
    impl_->run(function);
  }
}

void ThreadPool::barrier() {
  if (impl_->size > 1) impl_->barrier();
}

WorkRange work_share(int64_t count, int64_t grain, int worker, int num_workers) {
  const int64_t units = (count + grain - 1) / grain;
  const int64_t begin = units * worker / num_workers * grain;
  const int64_t end = units * (worker + 1) / num_workers * grain;
  return {std::min(begin, count), std::min(end, count)};
}

}  // namespace camshaft::base
