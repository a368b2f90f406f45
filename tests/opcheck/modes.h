// The modes over all cases and kernels.
#pragma once

#include "options.h"

namespace camshaft::opcheck {

// The number of failures, each printed with the line that repeats it.
int run_modes(const CheckOptions& options);

}  // namespace camshaft::opcheck
