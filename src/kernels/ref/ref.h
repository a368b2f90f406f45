// The reference kernels: for each op plain loops over f32 values with double accumulation. They are the specification; fast kernels
// are measured against them. Work is split by rows (GEMM: by output columns), never within a sum.
#pragma once

#include <span>

#include "kernels/kernel.h"

namespace camshaft::kernels {

extern const KernelInfo kEmbeddingRef, kRmsNormRef, kAddRmsNormRef, kGemmRef, kAddRef, kMulRef, kSiluRef, kSwigluRef, kSliceRef,
    kRopeRef, kKvWriteRef, kRopeKvWriteRef, kAttentionRef, kGatherRowsRef, kConcatRowsRef;

// One an op, in the order of ops::OpKind.
std::span<const KernelInfo> reference_kernels();

}  // namespace camshaft::kernels
