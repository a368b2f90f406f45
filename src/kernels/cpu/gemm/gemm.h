// GEMM kernels of the CPU and the weight layouts they read. The room's lists (kernels/cpu/list.cc) take both from here.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace camshaft::kernels {

std::span<const WeightLayout> gemm_layouts();
// In order of preference: better instruction sets first, portable C++ last.
std::span<const KernelInfo> gemm_kernels();

}  // namespace camshaft::kernels
