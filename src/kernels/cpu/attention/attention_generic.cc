// Attention in portable C++.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/attention/attention_args.inl.h"

namespace attention_generic {
namespace {
#include "kernels/cpu/vec/vec_generic.inl.h"
// After the lanes.
#include "kernels/cpu/vec/exp2.inl.h"
// After exp2.
#include "kernels/cpu/attention/attention_tiles.inl.h"
// After the tiles.
#include "kernels/cpu/attention/attention_body.inl.h"
}  // namespace
}  // namespace attention_generic

constinit const AttentionFunctions kAttentionGeneric = {attention_generic::run_tile, attention_generic::run_split,
                                                        attention_generic::merge, attention_generic::finish};

}  // namespace camshaft::kernels
