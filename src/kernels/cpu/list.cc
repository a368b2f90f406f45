// The CPU's list: the GEMM kernels, then those of the other ops.
#include "kernels/cpu/list.h"

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/other_ops.h"

namespace camshaft::kernels {
namespace {

std::vector<KernelInfo> every_kernel() {
  std::vector<KernelInfo> kernels;
  const auto append = [&](std::span<const KernelInfo> more) { kernels.insert(kernels.end(), more.begin(), more.end()); };
  append(gemm_kernels());
  append(attention_kernels());
  append(rope_kernels());
  append(row_kernels());
  append(gather_kernels());
  return kernels;
}

}  // namespace

std::span<const KernelInfo> cpu_kernels() {
  static const std::vector<KernelInfo> kernels = every_kernel();
  return kernels;
}

}  // namespace camshaft::kernels
