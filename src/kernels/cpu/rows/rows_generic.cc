// Row ops in portable C++.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace camshaft::kernels {

#include "kernels/cpu/rows/rows_args.inl.h"

namespace rows_generic {
namespace {
#include "kernels/cpu/vec/vec_generic.inl.h"
// After the lanes.
#include "kernels/cpu/vec/exp2.inl.h"
// After exp2.
#include "kernels/cpu/rows/rows_body.inl.h"
}  // namespace
}  // namespace rows_generic

constinit const RowFunctions kRowsGeneric = {rows_generic::rms_norm, rows_generic::swiglu};

}  // namespace camshaft::kernels
