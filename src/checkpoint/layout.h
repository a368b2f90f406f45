// Where tensors lie in a data section: shared rules of all weight files. Every byte belongs to exactly one tensor, apart from the
// format's own alignment padding.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/tensor_view.h"

namespace camshaft::checkpoint {

// hardening.md, section 2: weight files.
inline constexpr uint64_t kMaxTensors = 200'000;
inline constexpr uint64_t kMaxNameBytes = 512;
inline constexpr uint64_t kMaxRank = 8;
inline constexpr uint64_t kMaxHeaderBytes = uint64_t{64} << 20;

struct Extent {
  std::string_view name;
  uint64_t offset = 0;  // from the start of the data section
  uint64_t size = 0;
};

// `alignment` is a power of two; 1 means no padding at all.
Status check_layout(std::vector<Extent> extents, uint64_t data_size, uint64_t alignment, std::string_view what);

// Bytes of a dense tensor. Refuses what 64 bits do not hold and rows that are no whole blocks.
Result<uint64_t> tensor_bytes(tensor::Format format, const tensor::Shape& shape);

// 1..kMaxNameBytes bytes of valid UTF-8; `index` says which entry it is when the name itself cannot.
Status check_tensor_name(std::string_view name, uint64_t index, std::string_view what);

// 0 where the sum does not fit 64 bits and for 0.
uint64_t align_up(uint64_t value, uint64_t alignment);

}  // namespace camshaft::checkpoint
