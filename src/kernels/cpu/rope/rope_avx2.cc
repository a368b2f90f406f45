// Rotary embedding and cache writes in AVX2.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/rope/rope_args.inl.h"

namespace rope_avx2 {
namespace {
#include "kernels/cpu/vec/vec_avx2.inl.h"
// After the lanes.
#include "kernels/cpu/rope/rope_body.inl.h"
}  // namespace
}  // namespace rope_avx2

constinit const RopeFunctions kRopeAvx2 = {rope_avx2::turn, rope_avx2::write};

}  // namespace camshaft::kernels
