// The packed weight layouts of the GEMM kernels; inside this folder only.
#pragma once

#include "kernels/kernel.h"

namespace camshaft::kernels::gemm {

extern const WeightLayout kI4Rows16;    // "i4b32m_r16"
extern const WeightLayout kI8Rows16;    // "i8b32_r16"
extern const WeightLayout kF32Rows16;   // "f32_r16"
extern const WeightLayout kF16Rows16;   // "f16_r16"
extern const WeightLayout kBf16Rows16;  // "bf16_r16"

}  // namespace camshaft::kernels::gemm
