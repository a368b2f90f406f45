// GEMM of i4b32m weights with AVX-512 VNNI. Tiles of 6 rows x 2 groups: 12 sums, 12 dot products, weights and a broadcast fill 32
// registers.
#include <immintrin.h>

#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels::gemm::avx512vnni {
namespace {
#include "kernels/cpu/gemm/lanes_avx512.inl.h"
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/int_weights.inl.h"
//
#include "kernels/cpu/gemm/dot_vnni.inl.h"

constexpr int kIntGroups = 2;
constexpr int kTile = 6;
#include "kernels/cpu/gemm/int_tile.inl.h"
#include "kernels/cpu/gemm/quantize.inl.h"

constexpr int64_t kScratchBytes = kIntGroups * kScratchBlocks * kI8BlockBytes;

}  // namespace

const Micro kI4I8 = {kTile, kI8UnitBytes, kScratchBytes, false, prepare_i8, compute_int<GroupsI4, ActsI8, kTile>};
const Micro kI4I16 = {kTile, kI16UnitBytes, kScratchBytes, false, prepare_i16, compute_int<GroupsI4, ActsI16, kTile>};

}  // namespace camshaft::kernels::gemm::avx512vnni
