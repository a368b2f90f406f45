// bf16 GEMM with AVX-512 BF16: pairs of columns in one instruction, f32 sums. Tiles of 12 rows x 2 groups.
#include <immintrin.h>

#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels::gemm::avx512bf16 {
namespace {
#include "kernels/cpu/gemm/lanes_avx512.inl.h"
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/float_rows.inl.h"

constexpr int kMaxVectors = 24;
constexpr int kTile = 12;
#include "kernels/cpu/gemm/group_tile.inl.h"

constexpr int64_t kPrefetchAhead = 2048;

// One vdpbf16ps a pair of columns, pairs ascending, one accumulator an output: row-invariance.
struct PairDots {
  static constexpr int64_t kUnitBytes = kBf16UnitBytes;

  template <int R, int G>
  [[gnu::always_inline]] static void run(const ComputeArgs& a, const std::byte* group, const std::byte* x, Lanes::F (&acc)[G][R]) {
    for (int64_t pair = 0; pair < (a.k + 1) / 2; ++pair, x += 4 * R, group += 64) {
      Lanes::I w[G];
#pragma GCC unroll 8
      for (int g = 0; g < G; ++g) {
        w[g] = Lanes::int_load(group + g * a.group_bytes);
        _mm_prefetch(reinterpret_cast<const char*>(group) + g * a.group_bytes + kPrefetchAhead, _MM_HINT_T0);
      }
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const Lanes::I row = Lanes::int_broadcast(x + 4 * r);
#pragma GCC unroll 8
        for (int g = 0; g < G; ++g) acc[g][r] = _mm512_dpbf16_ps(acc[g][r], (__m512bh)w[g], (__m512bh)row);
      }
    }
  }
};

void prepare(const PrepareArgs& a) { for_each_unit<kBf16UnitBytes>(a, put_pairs); }

}  // namespace

const Micro kBf16Bf16 = {kTile, kBf16UnitBytes, 0, false, prepare, compute_groups<PairDots, kTile>};

}  // namespace camshaft::kernels::gemm::avx512bf16
