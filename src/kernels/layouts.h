// The plain layouts: every format's rows as they stand in a file, "rows_<format>". What the reference kernels read.
#pragma once

#include "kernels/kernel.h"

namespace camshaft::kernels {

const WeightLayout* rows_layout(tensor::Format format);

}  // namespace camshaft::kernels
