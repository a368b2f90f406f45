// Float GEMM with AVX-512. Tiles of 12 rows x 2 groups: 24 accumulators, the weights of one column pair and a broadcast beside
// them.
#include <immintrin.h>

#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels::gemm::avx512 {
namespace {
#include "kernels/cpu/gemm/lanes_avx512.inl.h"
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/float_rows.inl.h"
#include "kernels/cpu/gemm/float_tile.inl.h"

constexpr int kMaxVectors = 24;
constexpr int kTile = 12;
#include "kernels/cpu/gemm/group_tile.inl.h"

void prepare_f32(const PrepareArgs& a) { for_each_unit<kF32UnitBytes>(a, put_f32); }
void prepare_rounded(const PrepareArgs& a) { for_each_unit<kF32UnitBytes>(a, put_rounded); }

}  // namespace

const Micro kF32F32 = {kTile, kF32UnitBytes, 0, true, prepare_f32, compute_groups<FloatDots<WeightsF32>, kTile>};
const Micro kF16F32 = {kTile, kF32UnitBytes, 0, true, prepare_f32, compute_groups<FloatDots<WeightsF16>, kTile>};
const Micro kBf16F32 = {kTile, kF32UnitBytes, 0, true, prepare_f32, compute_groups<FloatDots<WeightsBf16>, kTile>};
const Micro kBf16Bf16 = {kTile, kF32UnitBytes, 0, false, prepare_rounded, compute_groups<FloatDots<WeightsBf16>, kTile>};

}  // namespace camshaft::kernels::gemm::avx512
