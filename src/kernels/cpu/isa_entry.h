// What the CPU's entries outside of GEMM share: the refusal of a class that the target lacks.
#pragma once

#include "base/format.h"
#include "kernels/entry.h"

namespace camshaft::kernels {

template <Isa kIsa>
Support needs_isa(const ops::OpDesc&, const Caps& caps) {
  if (caps.isa >= kIsa) return Support::ok();
  return Support::no(format("needs {}, the target is {}", isa_name(kIsa), isa_name(caps.isa)));
}

}  // namespace camshaft::kernels
