// Checks of a scheduler snapshot. Slow and plain on purpose.
#include "executor/invariants.h"

#include "base/format.h"

namespace camshaft::executor {
namespace {

Status broken(std::string_view invariant, std::string_view detail) {
  return base::internal_error(format("invariant {}: {}", invariant, detail));
}

// Marks `ids` as taken; each must be in range and not taken before.
Status take_once(std::string_view invariant, const std::vector<int32_t>& ids, std::vector<bool>& taken) {
  for (const int32_t id : ids) {
    if (id < 0 || static_cast<size_t>(id) >= taken.size()) return broken(invariant, format("{} of {}", id, taken.size()));
    if (taken[static_cast<size_t>(id)]) return broken(invariant, format("{} is there twice", id));
    taken[static_cast<size_t>(id)] = true;
  }
  return base::ok_status();
}

Status all_taken(std::string_view invariant, const std::vector<bool>& taken) {
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!taken[i]) return broken(invariant, format("{} is lost", i));
  }
  return base::ok_status();
}

Status check_blocks(const Snapshot& snapshot) {
  std::vector<bool> taken(static_cast<size_t>(snapshot.limits.num_blocks));
  CS_RETURN_IF_ERROR(take_once("blocks_owned_once", snapshot.free_blocks, taken));
  for (const SequenceSnapshot& sequence : snapshot.running)
    CS_RETURN_IF_ERROR(take_once("blocks_owned_once", sequence.blocks, taken));
  return all_taken("blocks_owned_once", taken);
}

Status check_slots(const Snapshot& snapshot) {
  std::vector<bool> taken(static_cast<size_t>(snapshot.limits.max_seqs));
  CS_RETURN_IF_ERROR(take_once("slots_owned_once", snapshot.free_slots, taken));
  for (const SequenceSnapshot& sequence : snapshot.running)
    CS_RETURN_IF_ERROR(take_once("slots_owned_once", {sequence.slot}, taken));
  for (const SequenceSnapshot& sequence : snapshot.waiting) {
    if (sequence.slot >= 0) CS_RETURN_IF_ERROR(take_once("slots_owned_once", {sequence.slot}, taken));
  }
  return all_taken("slots_owned_once", taken);
}

Status check_tables(const Snapshot& snapshot) {
  const int32_t block_tokens = snapshot.limits.block_tokens;
  for (const SequenceSnapshot& sequence : snapshot.running) {
    const auto needed = static_cast<size_t>((sequence.computed + block_tokens - 1) / block_tokens);
    if (sequence.blocks.size() == needed) continue;
    return broken("tables_fit", format("sequence {} has {} blocks for {} positions of {} a block", sequence.number,
                                       sequence.blocks.size(), sequence.computed, block_tokens));
  }
  for (const SequenceSnapshot& sequence : snapshot.waiting) {
    if (sequence.blocks.empty() && sequence.computed == 0) continue;
    return broken("tables_fit", format("waiting sequence {} has {} blocks", sequence.number, sequence.blocks.size()));
  }
  return base::ok_status();
}

Status check_order(const std::vector<SequenceSnapshot>& sequences, uint64_t& last) {
  for (const SequenceSnapshot& sequence : sequences) {
    if (sequence.number <= last) return broken("arrival_order", format("{} stands behind {}", sequence.number, last));
    last = sequence.number;
    if (sequence.computed >= sequence.length)
      return broken("work_left", format("sequence {} computed {} of {}", sequence.number, sequence.computed, sequence.length));
  }
  return base::ok_status();
}

}  // namespace

Status check_invariants(const Snapshot& snapshot) {
  CS_RETURN_IF_ERROR(check_blocks(snapshot));
  CS_RETURN_IF_ERROR(check_tables(snapshot));
  CS_RETURN_IF_ERROR(check_slots(snapshot));
  uint64_t last = 0;
  CS_RETURN_IF_ERROR(check_order(snapshot.running, last));
  return check_order(snapshot.waiting, last);
}

}  // namespace camshaft::executor
