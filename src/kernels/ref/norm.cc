// Reference of rms_norm and add_rms_norm.
#include <cmath>

#include "kernels/entry.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

void norm_row(const float* x, const float* w, int64_t n, double eps, float* y) {
  double squares = 0;
  for (int64_t i = 0; i < n; ++i) squares += double{x[i]} * x[i];
  const double factor = 1.0 / std::sqrt(squares / static_cast<double>(n) + eps);
  for (int64_t i = 0; i < n; ++i) y[i] = static_cast<float>(x[i] * factor * w[i]);
}

void run_rms_norm(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::RmsNormDesc>(context);
  const auto* w = static_cast<const float*>(call.in[1].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) norm_row(row_of(call.in[0], row), w, desc.hidden, desc.eps, row_of(call.out[0], row));
}

void run_add_rms_norm(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::AddRmsNormDesc>(context);
  const auto* w = static_cast<const float*>(call.in[2].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const float *a = row_of(call.in[0], row), *b = row_of(call.in[1], row);
    float* sum = row_of(call.out[1], row);
    for (int64_t i = 0; i < desc.hidden; ++i) sum[i] = a[i] + b[i];
    norm_row(sum, w, desc.hidden, desc.eps, row_of(call.out[0], row));
  }
}

}  // namespace

constinit const KernelInfo kRmsNormRef = {"rms_norm_ref", ops::OpKind::kRmsNorm, supports_all, one_tactic, no_workspace,
                                          no_layout,      run_rms_norm};
constinit const KernelInfo kAddRmsNormRef = {"add_rms_norm_ref", ops::OpKind::kAddRmsNorm, supports_all, one_tactic, no_workspace,
                                             no_layout,          run_add_rms_norm};

}  // namespace camshaft::kernels
