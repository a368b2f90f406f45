// Row ops in AVX-512.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/rows/rows_args.inl.h"

namespace rows_avx512 {
namespace {
#include "kernels/cpu/vec/vec_avx512.inl.h"
// After the lanes.
#include "kernels/cpu/vec/exp2.inl.h"
// After exp2.
#include "kernels/cpu/rows/rows_body.inl.h"
}  // namespace
}  // namespace rows_avx512

constinit const RowFunctions kRowsAvx512 = {rows_avx512::rms_norm, rows_avx512::swiglu};

}  // namespace camshaft::kernels
