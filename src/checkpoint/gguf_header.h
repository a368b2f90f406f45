// Everything in a GGUF file before the data: metadata pairs and the tensor table, checked against the file's size.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "tensor/tensor_view.h"

namespace camshaft::checkpoint {

// hardening.md, section 2: GGUF.
inline constexpr uint64_t kMaxGgufPairs = 65'536;
inline constexpr uint64_t kMaxGgufArray = uint64_t{16} << 20;   // elements
inline constexpr uint64_t kMaxGgufString = uint64_t{16} << 20;  // bytes
inline constexpr uint64_t kMaxGgufRank = 4;

// A vocabulary array, left in the file: its elements are read when a tokenizer is asked for.
struct GgufArray {
  uint32_t element_type = 0;
  uint64_t count = 0;
  std::span<const std::byte> bytes;  // checked to hold exactly `count` elements
};

struct GgufTensor {
  std::string name;
  tensor::Format format = tensor::Format::kF32;
  tensor::Shape shape;  // outermost first
  uint64_t offset = 0;  // from data_start
  uint64_t size = 0;
};

struct GgufHeader {
  uint32_t version = 0;
  uint64_t alignment = 32;
  Json metadata;                                         // object, in file order, without the vocabulary arrays
  std::map<std::string, GgufArray, std::less<>> arrays;  // tokenizer.ggml.tokens, scores, token_type, merges
  std::vector<GgufTensor> tensors;                       // inside the file, not overlapping
  uint64_t data_start = 0;
};

// `what` names the file in errors. Views in the header point into `bytes`.
Result<GgufHeader> read_gguf_header(std::span<const std::byte> bytes, std::string_view what);

// The array's elements. `what` names it in errors.
Result<std::vector<std::string>> gguf_strings(const GgufArray& array, std::string_view what);
// Any number type, converted.
Result<std::vector<double>> gguf_numbers(const GgufArray& array, std::string_view what);

}  // namespace camshaft::checkpoint
