// Runner: runs one kernel on one problem, whole or in pieces, as a plan's step would.
#pragma once

#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "problem.h"

namespace camshaft::opcheck {

struct Outputs {
  std::vector<Rows> rows;
  std::vector<std::byte> cache;  // afterwards, where the op writes it
};

// Rows [begin, end) of the problem.
struct Piece {
  int64_t begin = 0;
  int64_t end = 0;
};

class Runner {
 public:
  // The problem outlives the runner.
  Runner(const Problem& problem, const kernels::KernelInfo& kernel, const kernels::Caps& caps);

  // Runs the pieces one after the other, each as a batch of its own.
  Outputs run(int32_t tactic, base::ThreadPool& pool, const std::vector<Piece>& pieces);
  Outputs run(int32_t tactic, base::ThreadPool& pool) { return run(tactic, pool, {{0, problem_.spec.rows}}); }

  // Runs the whole problem again and again; seconds of the fastest and of the median run.
  struct Timing {
    double best = 0;
    double median = 0;
  };
  Timing time(int32_t tactic, base::ThreadPool& pool, double seconds);

 private:
  Outputs fresh_outputs() const;
  void run_piece(int32_t tactic, base::ThreadPool& pool, Piece piece, Outputs& outputs);

  const Problem& problem_;
  const kernels::KernelInfo& kernel_;
  kernels::Caps caps_;
  const kernels::WeightLayout* layout_ = nullptr;
  std::vector<AlignedBytes> weights_;  // the packed weight; copies of it while timing, so that it is not found in the nearest cache
  size_t next_weight_ = 0;
  std::optional<AlignedBytes> workspace_;
  std::vector<std::byte> read_cache_;  // of an op that only reads it
};

}  // namespace camshaft::opcheck
