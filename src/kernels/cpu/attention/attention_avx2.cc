// Attention in AVX2.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/attention/attention_args.inl.h"

namespace attention_avx2 {
namespace {
#include "kernels/cpu/vec/vec_avx2.inl.h"
// After the lanes.
#include "kernels/cpu/vec/exp2.inl.h"
// After exp2.
#include "kernels/cpu/attention/attention_tiles.inl.h"
// After the tiles.
#include "kernels/cpu/attention/attention_body.inl.h"
}  // namespace
}  // namespace attention_avx2

constinit const AttentionFunctions kAttentionAvx2 = {attention_avx2::run_tile, attention_avx2::run_split, attention_avx2::merge,
                                                     attention_avx2::finish};

}  // namespace camshaft::kernels
