// Row ops in AVX2.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/rows/rows_args.inl.h"

namespace rows_avx2 {
namespace {
#include "kernels/cpu/vec/vec_avx2.inl.h"
// After the lanes.
#include "kernels/cpu/vec/exp2.inl.h"
// After exp2.
#include "kernels/cpu/rows/rows_body.inl.h"
}  // namespace
}  // namespace rows_avx2

constinit const RowFunctions kRowsAvx2 = {rows_avx2::rms_norm, rows_avx2::swiglu};

}  // namespace camshaft::kernels
