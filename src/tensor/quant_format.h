// Quantised storage formats: the file formats (ggml's blocks) and our own packed ones, each with scalar unpack (and pack where we
// write it). One file a format under tensor/quant/, one line in tensor/quant/list.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "tensor/dtype.h"

namespace camshaft::tensor {

// How a weight's elements are stored along its last dimension. Plain types are formats of block 1.
enum class Format : uint8_t {
  kF32,
  kF16,
  kBF16,
  kF8E4M3,
  kF8E5M2,
  kQ8_0,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ4_K,
  kQ5_K,
  kQ6_K,  // as ggml defines them, bit for bit
  // Ours (row-wise, unpacked by kernels' packers into their own layouts):
  kI8B32,   // block of 32: f16 scale d, 32 x int8 q (|q| <= 127);              w = d * q. Same bytes as kQ8_0.
  kI4B32M,  // block of 32: f16 scale d, f16 minimum m, 16 bytes of nibbles q;  w = d * q + m. Same bytes as kQ4_1.
  // Other plain types that checkpoints carry (position ids, quantised weights with their scales beside them).
  kF64,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kBool,
};

struct FormatInfo {
  Format format;
  std::string_view name;  // "q4_1", "i8b32", ...
  int block_elements;     // elements a block, along the last dimension
  int block_bytes;
  // Exact to the format's definition, computed in f32 without fused multiply-adds (64-bit types are rounded to f32): out[0..n) from
  // n / block_elements blocks.
  void (*unpack)(const std::byte* blocks, float* out, int64_t n);
  // Round to nearest; nullptr where we never write the format.
  void (*pack)(const float* values, std::byte* blocks, int64_t n);
  // The largest |value - unpack(pack(value))| over a block, relative to the block's largest magnitude (or range, for formats with
  // a minimum); 0 where exact or where we never write it.
  float relative_error_bound;
};

// Always succeeds: the list is complete (a test says so).
const FormatInfo& format_info(Format format);
std::span<const FormatInfo> all_formats();
Result<Format> parse_format(std::string_view name);
// Bytes of `elements` (a multiple of the block) elements.
int64_t format_bytes(Format format, int64_t elements);

}  // namespace camshaft::tensor
