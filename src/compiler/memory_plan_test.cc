// Random lifetimes: buffers that live together never share a byte, and the arena is no smaller than what lives at once.
#include "compiler/lower/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace camshaft::compiler {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

std::vector<BufferRequest> random_requests(std::mt19937& random) {
  const int count = static_cast<int>(random() % 60);
  const auto steps = static_cast<int32_t>(1 + random() % 30);
  std::vector<BufferRequest> out;
  for (int i = 0; i < count; ++i) {
    const auto first = static_cast<int32_t>(random() % static_cast<uint32_t>(steps));
    const auto last = first + static_cast<int32_t>(random() % static_cast<uint32_t>(steps - first));
    out.push_back({random() % 5 == 0 ? 0 : static_cast<int64_t>(random() % 5000), first, last});
  }
  return out;
}

bool live_together(const BufferRequest& a, const BufferRequest& b) {
  return a.first_step <= b.last_step && b.first_step <= a.last_step;
}

int64_t peak(const std::vector<BufferRequest>& requests) {
  int64_t most = 0;
  for (int32_t step = 0; step < 32; ++step) {
    int64_t live = 0;
    for (const BufferRequest& request : requests) {
      if (request.first_step <= step && step <= request.last_step) live += aligned(request.bytes);
    }
    most = std::max(most, live);
  }
  return most;
}

TEST(MemoryPlan, NothingThatLivesTogetherOverlaps) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::vector<BufferRequest> requests = random_requests(random);
    const MemoryPlan plan = plan_memory(requests);
    ASSERT_EQ(plan.offsets.size(), requests.size());
    EXPECT_GE(plan.total_bytes, peak(requests));
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % 64, 0);
      EXPECT_LE(plan.offsets[i] + requests[i].bytes, plan.total_bytes);
      for (size_t j = 0; j < i; ++j) {
        if (!live_together(requests[i], requests[j])) continue;
        const bool apart =
            plan.offsets[i] + requests[i].bytes <= plan.offsets[j] || plan.offsets[j] + requests[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(apart) << i << " and " << j;
      }
    }
  }
}

TEST(MemoryPlan, BytesAreUsedAgain) {
  // Three in a row, each meeting only its neighbours: the third takes the first one's place.
  const MemoryPlan plan = plan_memory({{100, 0, 1}, {100, 1, 2}, {100, 2, 3}});
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 128, 0}));
  EXPECT_EQ(plan.total_bytes, 256);
  EXPECT_EQ(plan_memory({}).total_bytes, 0);
}

}  // namespace
}  // namespace camshaft::compiler
