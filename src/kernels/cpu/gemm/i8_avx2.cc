// GEMM of i8b32 weights with AVX2. Tiles of 2 rows x 2 vectors: 4 sums, 4 dot products, 4 sums of 16 bits.
#include <immintrin.h>

#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels::gemm::avx2 {
namespace {
#include "kernels/cpu/gemm/lanes_avx2.inl.h"
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/int_weights.inl.h"
//
#include "kernels/cpu/gemm/dot_maddubs.inl.h"

constexpr int kIntGroups = 1;
constexpr int kTile = 2;
#include "kernels/cpu/gemm/int_tile.inl.h"
#include "kernels/cpu/gemm/quantize.inl.h"

}  // namespace

const Micro kI8I8 = {kTile, kI8UnitBytes, 0, false, prepare_i8, compute_int<GroupsI8, ActsI8, kTile>};
const Micro kI8I16 = {kTile, kI16UnitBytes, 0, false, prepare_i16, compute_int<GroupsI8, ActsI16, kTile>};

}  // namespace camshaft::kernels::gemm::avx2
