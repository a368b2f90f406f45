// The scheduler's named invariants, as a pure function over a snapshot. Called between steps in tests and in verifying builds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "runtime/model_runner.h"

namespace camshaft::executor {

struct SequenceSnapshot {
  uint64_t number = 0;
  int32_t length = 0;  // known tokens
  int32_t computed = 0;
  int32_t slot = -1;
  std::vector<int32_t> blocks;
};

struct Snapshot {
  runtime::RunnerLimits limits;
  std::vector<int32_t> free_blocks;
  std::vector<int32_t> free_slots;
  std::vector<SequenceSnapshot> running;
  std::vector<SequenceSnapshot> waiting;
};

// Names the first invariant that is broken:
//   blocks_owned_once  every block is free or owned by one sequence, once
//   tables_fit         a running sequence owns just the blocks of its computed positions, a waiting one none
//   slots_owned_once   every slot is free or held by one sequence; running ones hold one
//   arrival_order      running sequences are older than waiting ones, each list is in order of arrival
//   work_left          every sequence has a token that is not computed
Status check_invariants(const Snapshot& snapshot);

}  // namespace camshaft::executor
