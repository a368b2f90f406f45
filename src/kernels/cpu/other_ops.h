// The kernels of all ops but GEMM, a span a folder; kernels/cpu/list.cc joins them.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace camshaft::kernels {

std::span<const KernelInfo> row_kernels();        // rms_norm, add_rms_norm, swiglu
std::span<const KernelInfo> rope_kernels();       // rope, kv_write, rope_kv_write
std::span<const KernelInfo> attention_kernels();  // attention
std::span<const KernelInfo> gather_kernels();     // embedding, gather_rows, slice

}  // namespace camshaft::kernels
