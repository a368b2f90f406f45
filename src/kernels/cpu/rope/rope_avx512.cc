// Rotary embedding and cache writes in AVX-512.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/rope/rope_args.inl.h"

namespace rope_avx512 {
namespace {
#include "kernels/cpu/vec/vec_avx512.inl.h"
// After the lanes.
#include "kernels/cpu/rope/rope_body.inl.h"
}  // namespace
}  // namespace rope_avx512

constinit const RopeFunctions kRopeAvx512 = {rope_avx512::turn, rope_avx512::write};

}  // namespace camshaft::kernels
