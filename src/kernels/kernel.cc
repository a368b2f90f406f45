// The lists of kernels: for each op of the CPU the fast ones in order of preference, then the reference.
#include "kernels/kernel.h"

#include <array>

#include "kernels/cpu/list.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

using KernelTable = std::array<std::vector<KernelInfo>, ops::kNumOpKinds>;

KernelTable make_cpu_table() {
  KernelTable table;
  for (int i = 0; i < ops::kNumOpKinds; ++i) {
    const auto op = static_cast<ops::OpKind>(i);
    for (const KernelInfo& kernel : cpu_kernels()) {
      if (kernel.op == op) table[i].push_back(kernel);
    }
    for (const KernelInfo& kernel : reference_kernels()) {
      if (kernel.op == op) table[i].push_back(kernel);
    }
  }
  return table;
}

}  // namespace

std::span<const KernelInfo> kernel_list(device::DeviceKind device, ops::OpKind op) {
  static const KernelTable cpu_table = make_cpu_table();
  if (device != device::DeviceKind::kCpu) return {};
  return cpu_table[static_cast<size_t>(op)];
}

const KernelInfo* find_kernel(device::DeviceKind device, std::string_view name) {
  for (int i = 0; i < ops::kNumOpKinds; ++i) {
    for (const KernelInfo& kernel : kernel_list(device, static_cast<ops::OpKind>(i))) {
      if (kernel.name == name) return &kernel;
    }
  }
  return nullptr;
}

Choice choose_kernel(const ops::OpDesc& desc, const Caps& caps) {
  Choice choice;
  for (const KernelInfo& kernel : kernel_list(caps.device, ops::op_kind(desc))) {
    Support support = kernel.supports(desc, caps);
    if (support.yes) {
      choice.kernel = &kernel;
      return choice;
    }
    choice.refused.emplace_back(kernel.name, std::move(support.reason));
  }
  return choice;
}

}  // namespace camshaft::kernels
