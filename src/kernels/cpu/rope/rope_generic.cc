// Rotary embedding and cache writes in portable C++.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/rope/rope_args.inl.h"

namespace rope_generic {
namespace {
#include "kernels/cpu/vec/vec_generic.inl.h"
// After the lanes.
#include "kernels/cpu/rope/rope_body.inl.h"
}  // namespace
}  // namespace rope_generic

constinit const RopeFunctions kRopeGeneric = {rope_generic::turn, rope_generic::write};

}  // namespace camshaft::kernels
