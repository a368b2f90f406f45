// Integer GEMM with AVX2. Tiles of 4 rows: 4 accumulators and 8 weight vectors of 8 outputs.
#include <immintrin.h>

#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels::gemm::avx2 {
namespace {
#include "kernels/cpu/gemm/lanes_avx2.inl.h"
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/dot_maddubs.inl.h"
#include "kernels/cpu/gemm/int_tile.inl.h"
#include "kernels/cpu/gemm/quantize.inl.h"

constexpr int kTile = 4;

}  // namespace

const Micro kI4I8 = {kTile, kI8UnitBytes, false, prepare_i8, compute_int<WeightsI4, ActsI8, kTile>};
const Micro kI4I16 = {kTile, kI16UnitBytes, false, prepare_i16, compute_int<WeightsI4, ActsI16, kTile>};
const Micro kI8I8 = {kTile, kI8UnitBytes, false, prepare_i8, compute_int<WeightsI8, ActsI8, kTile>};
const Micro kI8I16 = {kTile, kI16UnitBytes, false, prepare_i16, compute_int<WeightsI8, ActsI16, kTile>};

}  // namespace camshaft::kernels::gemm::avx2
