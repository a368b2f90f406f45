#include "compiler/lower/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace camshaft::compiler {
namespace {

constexpr int64_t kAlignment = 64;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

struct Placed {
  int64_t begin, end;
};

}  // namespace

MemoryPlan plan_memory(const std::vector<BufferRequest>& requests) {
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return requests[a].bytes > requests[b].bytes; });

  MemoryPlan plan;
  plan.offsets.assign(requests.size(), 0);
  std::vector<size_t> placed;
  for (const size_t index : order) {
    const BufferRequest& request = requests[index];
    std::vector<Placed> rivals;
    for (const size_t other : placed) {
      const BufferRequest& rival = requests[other];
      if (rival.last_step < request.first_step || rival.first_step > request.last_step) continue;
      rivals.push_back({plan.offsets[other], plan.offsets[other] + aligned(rival.bytes)});
    }
    std::ranges::sort(rivals, {}, &Placed::begin);
    int64_t offset = 0;
    for (const Placed& rival : rivals) {
      if (offset + aligned(request.bytes) <= rival.begin) break;
      offset = std::max(offset, rival.end);
    }
    plan.offsets[index] = offset;
    plan.total_bytes = std::max(plan.total_bytes, offset + aligned(request.bytes));
    placed.push_back(index);
  }
  return plan;
}

}  // namespace camshaft::compiler
