// What the glue (gemm.cc) and the instruction-set files say to each other: plain structs and one function table a kernel.
//
// Rows of x are cut into tiles of nearly equal height, at most `Micro::max_tile`; phase one (`prepare`) turns rows of x into the
// kernel's own form, tile by tile, phase two (`compute`) multiplies. A tile of R rows holds, block of 32 columns after block:
//   i8b32    [R][32] i8 q,                  [R] f32 d, [R] f32 d * sum(q), [R] i32 -128 * sum(q)
//   i16b32   [R][32] i8 hi, [R][32] i8 lo,  [R] f32 d, [R] f32 d * sum(q), [R] i32 -128 * sum(q)    (q = 256 * hi + lo)
//   f32      [32][R] f32        (also for bf16 activations where there is no bf16 dot product: rounded, kept as f32)
//   bf16     [16][R] pairs of bf16
#pragma once

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels::gemm {

inline constexpr int64_t kLanes = 16;          // weight rows in a group of every layout
inline constexpr int64_t kBlock = 32;          // columns
inline constexpr int64_t kI4BlockBytes = 320;  // i4b32m_r16, one block of a group: 16 f16 d, 16 f16 m, 4 x 16 x 4 bytes of nibbles
inline constexpr int64_t kI8BlockBytes =
    512;                                     // i8b32_r16, quants of one block of a group; all scales of the group stand before them
inline constexpr int64_t kI8UnitBytes = 44;  // prepared bytes of a row's block
inline constexpr int64_t kI16UnitBytes = 76;
inline constexpr int64_t kF32UnitBytes = 128;
inline constexpr int64_t kBf16UnitBytes = 64;

// Blocks of k that kernels go through at once when a group of weights serves many tiles: two groups' bytes of so many blocks fill
// half of a first-level cache of 48 KiB.
inline constexpr int64_t kScratchBlocks = 24;

// The first `extra` tiles have base + 1 rows, the others base.
struct Tiling {
  int64_t base = 0;
  int64_t extra = 0;
  int64_t count = 0;
};

struct PrepareArgs {
  const float* x = nullptr;
  int64_t x_stride = 0;
  int64_t k = 0;
  int64_t blocks = 0;  // of 32 columns, rounded up
  Tiling tiling;
  std::byte* acts = nullptr;
  int64_t begin = 0;  // units row * blocks + block
  int64_t end = 0;
};

struct ComputeArgs {
  const std::byte* weights = nullptr;  // of group 0
  int64_t group_bytes = 0;
  const std::byte* acts = nullptr;
  std::byte* scratch = nullptr;  // the worker's own, Micro::scratch_bytes
  const float* bias = nullptr;   // may be null
  float* y = nullptr;
  int64_t y_stride = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t blocks = 0;
  Tiling tiling;
  int64_t group_begin = 0, group_end = 0;
  int64_t tile_begin = 0, tile_end = 0;
};

struct Micro {
  int64_t max_tile;
  int64_t unit_bytes;
  int64_t scratch_bytes;
  bool reads_x;  // a single row needs no preparing: it is read as it is
  void (*prepare)(const PrepareArgs& args);
  void (*compute)(const ComputeArgs& args);
};

namespace avx512vnni {
extern const Micro kI4I8, kI4I16, kI8I8, kI8I16;
}
namespace avx512bf16 {
extern const Micro kBf16Bf16;
}
namespace avx512 {
extern const Micro kI4I8, kI4I16, kI8I8, kI8I16, kF32F32, kF16F32, kBf16F32, kBf16Bf16;
}
namespace avx2 {
extern const Micro kI4I8, kI4I16, kI8I8, kI8I16, kF32F32, kF16F32, kBf16F32, kBf16Bf16;
}
namespace generic {
extern const Micro kI4I8, kI4I16, kI8I8, kI8I16, kF32F32, kF16F32, kBf16F32, kBf16Bf16;
}

}  // namespace camshaft::kernels::gemm
