// ThreadPool: pinned workers for compute, one fork-join at a time. Owned by the CPU stream (or by a builder); the caller is worker
// 0. Workers spin briefly after a job and then park on a futex, since client, I/O and compute share the cores.
#pragma once

#include <cstdint>
#include <memory>

namespace camshaft::base {

// A non-owning reference to a callable `void(int worker)`.
class WorkerFunction {
 public:
  template <typename F>
  WorkerFunction(F& callable)  // NOLINT: implicit on purpose
      : object_(&callable), call_([](void* object, int worker) { (*static_cast<F*>(object))(worker); }) {}
  void operator()(int worker) const { call_(object_, worker); }

 private:
  void* object_;
  void (*call_)(void*, int);
};

enum class Pinning { kPin, kFloat };

class ThreadPool {
 public:
  // `num_threads` >= 1 counts the caller. Pinning is refused quietly where the process may not run on that many cores.
  ThreadPool(int num_threads, Pinning pinning);
  ~ThreadPool();

  int num_threads() const;
  // Runs function(0..num_threads-1), each once, and returns when all are done. Not reentrant; one caller thread at a time.
  void run(WorkerFunction function);
  // Within run(): all workers wait for each other. Cheap (spins first), so one run() may hold several phases.
  void barrier();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// [begin, end) of `worker`'s even share of `count` items, in multiples of `grain`.
struct WorkRange {
  int64_t begin;
  int64_t end;
};
WorkRange work_share(int64_t count, int64_t grain, int worker, int num_workers);

}  // namespace camshaft::base
