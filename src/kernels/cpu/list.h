// The CPU's fast kernels: one ordered list, best first within each op.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace camshaft::kernels {

std::span<const KernelInfo> cpu_kernels();

}  // namespace camshaft::kernels
