// Offsets in the activation arena by lifetime: two buffers share bytes only when their lifetimes do not meet.
#pragma once

#include <cstdint>
#include <vector>

namespace camshaft::compiler {

struct BufferRequest {
  int64_t bytes = 0;
  int32_t first_step = 0;  // lifetime, both ends included
  int32_t last_step = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one a request, multiples of 64
  int64_t total_bytes = 0;
};

// Greedy by size: largest first, each at the lowest offset where it meets no placed buffer that lives at the same time
// (Pisarchyk and Lee 2020, "Efficient memory management for deep neural net inference").
MemoryPlan plan_memory(const std::vector<BufferRequest>& requests);

}  // namespace camshaft::compiler
