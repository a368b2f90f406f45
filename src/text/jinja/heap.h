// Heap: memory and work of one rendering. Values live here until the rendering ends, so that cycles (a namespace that holds
// itself) cost nothing; both memory and steps have a limit, checked before anything is reserved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace camshaft::text::jinja {

class Heap {
 public:
  // Work is counted finer than the limit of steps: a step is one statement, one turn of a loop or one call; an expression node
  // is an eighth of it, and so are 128 bytes looked at or copied.
  static constexpr uint64_t kUnitsPerStep = 8;
  static constexpr uint64_t kBytesPerUnit = 128;

  Heap(uint64_t max_steps, uint64_t max_bytes) : max_steps_(max_steps), max_bytes_(max_bytes) {}
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Fails when the limit would be passed. Aligned for any value.
  void* allocate(uint64_t bytes);
  template <typename T, typename... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (allocate(sizeof(T))) T{std::forward<Args>(args)...};
  }
  // Value-initialised.
  template <typename T>
  T* array(uint64_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    require(count, sizeof(T));
    T* items = static_cast<T*>(allocate(count * sizeof(T)));
    for (uint64_t i = 0; i < count; ++i) new (items + i) T();
    return items;
  }

  // Fails unless `count` things of `size` bytes could still be allocated.
  void require(uint64_t count, uint64_t size) const;
  void step() { spend(kUnitsPerStep); }
  void node() { spend(1); }
  void scan(uint64_t bytes) { spend(1 + bytes / kBytesPerUnit); }
  void grow_limit(uint64_t bytes) { max_bytes_ += bytes; }

 private:
  void spend(uint64_t units) {
    used_units_ += units;
    if (used_units_ > max_steps_ * kUnitsPerStep) [[unlikely]]
      fail_steps();
  }
  [[noreturn]] void fail_steps() const;
  [[noreturn]] void fail_memory() const;

  uint64_t max_steps_;
  uint64_t max_bytes_;
  uint64_t used_units_ = 0;
  uint64_t used_bytes_ = 0;
  std::byte* free_ = nullptr;
  uint64_t free_bytes_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

}  // namespace camshaft::text::jinja
