// The bump allocator behind a rendering's values, and the two counters.
#include "text/jinja/heap.h"

#include <algorithm>

#include "text/jinja/failure.h"

namespace camshaft::text::jinja {
namespace {
constexpr uint64_t kFirstChunk = 16 << 10;
constexpr uint64_t kMaxChunk = 1 << 20;
constexpr uint64_t kAlignment = 16;
}  // namespace

void* Heap::allocate(uint64_t bytes) {
  require(bytes, 1);
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  used_bytes_ += bytes;
  if (bytes > free_bytes_) {
    const uint64_t growth = std::min(kMaxChunk, kFirstChunk << std::min<uint64_t>(chunks_.size(), 10));
    const uint64_t chunk = std::max(growth, bytes);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk));
    if (bytes == chunk) return chunks_.back().get();  // the chunk in use keeps its rest
    free_ = chunks_.back().get();
    free_bytes_ = chunk;
  }
  void* out = free_;
  free_ += bytes;
  free_bytes_ -= bytes;
  return out;
}

void Heap::require(uint64_t count, uint64_t size) const {
  const uint64_t left = max_bytes_ - std::min(used_bytes_, max_bytes_);
  if (count > left / size) fail_memory();
}

void Heap::fail_steps() const { fail_limit("steps", max_steps_, "steps"); }
void Heap::fail_memory() const { fail_limit("memory", max_bytes_, "bytes of values in one rendering"); }

}  // namespace camshaft::text::jinja
