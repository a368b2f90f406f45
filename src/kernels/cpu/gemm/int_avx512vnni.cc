// Integer GEMM with AVX-512 VNNI. Tiles of 12 rows: 12 accumulators, 8 weight vectors, scales and sums in flight fill 32 registers.
#include <immintrin.h>

#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels::gemm::avx512vnni {
namespace {
#include "kernels/cpu/gemm/lanes_avx512.inl.h"
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/dot_vnni.inl.h"
#include "kernels/cpu/gemm/int_tile.inl.h"
#include "kernels/cpu/gemm/quantize.inl.h"

constexpr int kTile = 12;

}  // namespace

const Micro kI4I8 = {kTile, kI8UnitBytes, false, prepare_i8, compute_int<WeightsI4, ActsI8, kTile>};
const Micro kI4I16 = {kTile, kI16UnitBytes, false, prepare_i16, compute_int<WeightsI4, ActsI16, kTile>};
const Micro kI8I8 = {kTile, kI8UnitBytes, false, prepare_i8, compute_int<WeightsI8, ActsI8, kTile>};
const Micro kI8I16 = {kTile, kI16UnitBytes, false, prepare_i16, compute_int<WeightsI8, ActsI16, kTile>};

}  // namespace camshaft::kernels::gemm::avx512vnni
