// Reference of add, mul, silu and swiglu.
#include <cmath>

#include "kernels/entry.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

double silu(double x) { return x / (1.0 + std::exp(-x)); }

void run_add(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const int64_t columns = desc_of<ops::AddDesc>(context).columns;
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const float *a = row_of(call.in[0], row), *b = row_of(call.in[1], row);
    float* y = row_of(call.out[0], row);
    for (int64_t i = 0; i < columns; ++i) y[i] = a[i] + b[i];
  }
}

void run_mul(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const int64_t columns = desc_of<ops::MulDesc>(context).columns;
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const float *a = row_of(call.in[0], row), *b = row_of(call.in[1], row);
    float* y = row_of(call.out[0], row);
    for (int64_t i = 0; i < columns; ++i) y[i] = a[i] * b[i];
  }
}

void run_silu(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const int64_t columns = desc_of<ops::SiluDesc>(context).columns;
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const float* x = row_of(call.in[0], row);
    float* y = row_of(call.out[0], row);
    for (int64_t i = 0; i < columns; ++i) y[i] = static_cast<float>(silu(x[i]));
  }
}

void run_swiglu(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::SwigluDesc>(context);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const float* gate = row_of(call.in[0], row);
    const float* up = desc.merged ? gate + desc.columns : row_of(call.in[1], row);
    float* y = row_of(call.out[0], row);
    for (int64_t i = 0; i < desc.columns; ++i) y[i] = static_cast<float>(silu(gate[i]) * up[i]);
  }
}

}  // namespace

constinit const KernelInfo kAddRef = {"add_ref", ops::OpKind::kAdd, supports_all, one_tactic, no_workspace, no_layout, run_add};
constinit const KernelInfo kMulRef = {"mul_ref", ops::OpKind::kMul, supports_all, one_tactic, no_workspace, no_layout, run_mul};
constinit const KernelInfo kSiluRef = {"silu_ref", ops::OpKind::kSilu, supports_all, one_tactic, no_workspace, no_layout, run_silu};
constinit const KernelInfo kSwigluRef = {"swiglu_ref", ops::OpKind::kSwiglu, supports_all, one_tactic, no_workspace, no_layout,
                                         run_swiglu};

}  // namespace camshaft::kernels
