// GGUF's own numbers: value types of metadata and ggml's tensor types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tensor/quant_format.h"

namespace camshaft::checkpoint {

enum class GgufType : uint32_t {
  kU8 = 0,
  kI8 = 1,
  kU16 = 2,
  kI16 = 3,
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12,
};

// "u32", "string", ...; "type 77" for numbers that mean nothing.
std::string gguf_type_name(uint32_t type);
// Bytes of a number or bool; 0 for strings, arrays and unknown types.
uint64_t gguf_type_size(uint32_t type);
// Fewest bytes that a value of this type can take in the file; 0 for unknown types.
uint64_t gguf_smallest_size(uint32_t type);

// The format of a ggml tensor type; unimplemented, naming it, where we have none.
Result<tensor::Format> format_of_ggml_type(uint32_t type);

}  // namespace camshaft::checkpoint
