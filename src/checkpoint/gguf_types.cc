// Tables of GGUF value types and ggml tensor types (facts of the public GGUF specification and ggml.h).
#include "checkpoint/gguf_types.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/format.h"

namespace camshaft::checkpoint {
namespace {

using tensor::Format;

struct ValueType {
  std::string_view name;
  uint64_t size;
};
constexpr ValueType kValueTypes[] = {{"u8", 1},   {"i8", 1},     {"u16", 2},   {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
                                     {"bool", 1}, {"string", 0}, {"array", 0}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

struct TensorType {
  uint32_t number;
  std::string_view name;
  std::optional<Format> format;  // nothing: known by name only
};
constexpr TensorType kTensorTypes[] = {
    {0, "F32", Format::kF32},
    {1, "F16", Format::kF16},
    {2, "Q4_0", Format::kQ4_0},
    {3, "Q4_1", Format::kQ4_1},
    {4, "Q4_2", {}},
    {5, "Q4_3", {}},
    {6, "Q5_0", Format::kQ5_0},
    {7, "Q5_1", Format::kQ5_1},
    {8, "Q8_0", Format::kQ8_0},
    {9, "Q8_1", {}},
    {10, "Q2_K", {}},
    {11, "Q3_K", {}},
    {12, "Q4_K", Format::kQ4_K},
    {13, "Q5_K", Format::kQ5_K},
    {14, "Q6_K", Format::kQ6_K},
    {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},
    {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},
    {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},
    {23, "IQ4_XS", {}},
    {24, "I8", Format::kI8},
    {25, "I16", Format::kI16},
    {26, "I32", Format::kI32},
    {27, "I64", Format::kI64},
    {28, "F64", Format::kF64},
    {29, "IQ1_M", {}},
    {30, "BF16", Format::kBF16},
    {31, "Q4_0_4_4", {}},
    {32, "Q4_0_4_8", {}},
    {33, "Q4_0_8_8", {}},
    {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},
    {36, "IQ4_NL_4_4", {}},
    {37, "IQ4_NL_4_8", {}},
    {38, "IQ4_NL_8_8", {}},
    {39, "MXFP4", {}},
};

std::string supported_names() {
  std::string names;
  for (const TensorType& type : kTensorTypes) {
    if (type.format) names.append(names.empty() ? "" : " ").append(type.name);
  }
  return names;
}

}  // namespace

std::string gguf_type_name(uint32_t type) {
  if (type < std::size(kValueTypes)) return std::string(kValueTypes[type].name);
  return format("type {}", type);
}

uint64_t gguf_type_size(uint32_t type) { return type < std::size(kValueTypes) ? kValueTypes[type].size : 0; }

uint64_t gguf_smallest_size(uint32_t type) {
  if (type == static_cast<uint32_t>(GgufType::kString)) return 8;  // a length
  if (type == static_cast<uint32_t>(GgufType::kArray)) return 12;  // an element type and a count
  return gguf_type_size(type);
}

Result<Format> format_of_ggml_type(uint32_t number) {
  const auto* found = std::find_if(std::begin(kTensorTypes), std::end(kTensorTypes),
                                   [number](const TensorType& type) { return type.number == number; });
  if (found == std::end(kTensorTypes)) {
    return base::unimplemented(format("tensor type {} is unknown; supported are {}", number, supported_names()));
  }
  if (!found->format) {
    return base::unimplemented(format("tensor type {} ({}) is not supported; supported are {}. Convert the file to one of them",
                                      found->name, number, supported_names()));
  }
  return *found->format;
}

}  // namespace camshaft::checkpoint
