// AlignedBytes: owned memory on a 64-byte border, as kernels like it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/status.h"

namespace camshaft::interp {

class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size) : size_(size) {
    if (size == 0) return;
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (size + 63) / 64 * 64)));
    CS_CHECK(data_ != nullptr, "out of memory");
  }
  std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  std::span<float> floats() const { return {reinterpret_cast<float*>(data_.get()), size_ / sizeof(float)}; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_ = 0;
};

}  // namespace camshaft::interp
