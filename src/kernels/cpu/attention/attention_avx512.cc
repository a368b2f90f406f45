// Attention in AVX-512.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/attention/attention_args.inl.h"

namespace attention_avx512 {
namespace {
#include "kernels/cpu/vec/vec_avx512.inl.h"
// After the lanes.
#include "kernels/cpu/vec/exp2.inl.h"
// After exp2.
#include "kernels/cpu/attention/attention_tiles.inl.h"
// After the tiles.
#include "kernels/cpu/attention/attention_body.inl.h"
}  // namespace
}  // namespace attention_avx512

constinit const AttentionFunctions kAttentionAvx512 = {attention_avx512::run_tile, attention_avx512::run_split,
                                                       attention_avx512::merge, attention_avx512::finish};

}  // namespace camshaft::kernels
