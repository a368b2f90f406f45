// Entries of the row ops: rms_norm, add_rms_norm, swiglu. Norms are shared out by rows, swiglu by pieces of rows.
#include <algorithm>

#include "kernels/cpu/isa_entry.h"
#include "kernels/cpu/other_ops.h"

namespace camshaft::kernels {

#include "kernels/cpu/rows/rows_args.inl.h"

namespace {

constexpr int64_t kSwigluPiece = 256;  // columns

template <const RowFunctions& kFunctions>
void run_rms_norm(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::RmsNormDesc>(context);
  const auto* weight = static_cast<const float*>(call.in[1].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    kFunctions.rms_norm({row_of(call.in[0], row), nullptr, nullptr, weight, row_of(call.out[0], row), desc.hidden, desc.eps});
  }
}

template <const RowFunctions& kFunctions>
void run_add_rms_norm(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::AddRmsNormDesc>(context);
  const auto* weight = static_cast<const float*>(call.in[2].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    kFunctions.rms_norm({row_of(call.in[0], row), row_of(call.in[1], row), row_of(call.out[1], row), weight,
                         row_of(call.out[0], row), desc.hidden, desc.eps});
  }
}

template <const RowFunctions& kFunctions>
void run_swiglu(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::SwigluDesc>(context);
  const int64_t pieces = (desc.columns + kSwigluPiece - 1) / kSwigluPiece;
  const auto [begin, end] = share_of(launch, call.rows * pieces);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t row = item / pieces, column = item % pieces * kSwigluPiece;
    const float* gate = row_of(call.in[0], row);
    const float* up = desc.merged ? gate + desc.columns : row_of(call.in[1], row);
    kFunctions.swiglu(gate + column, up + column, row_of(call.out[0], row) + column, std::min(kSwigluPiece, desc.columns - column));
  }
}

template <const RowFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo rms_norm_entry(std::string_view name) {
  return {name, ops::OpKind::kRmsNorm, needs_isa<kIsa>, one_tactic, no_workspace, no_layout, run_rms_norm<kFunctions>};
}
template <const RowFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo add_rms_norm_entry(std::string_view name) {
  return {name, ops::OpKind::kAddRmsNorm, needs_isa<kIsa>, one_tactic, no_workspace, no_layout, run_add_rms_norm<kFunctions>};
}
template <const RowFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo swiglu_entry(std::string_view name) {
  return {name, ops::OpKind::kSwiglu, needs_isa<kIsa>, one_tactic, no_workspace, no_layout, run_swiglu<kFunctions>};
}

constexpr KernelInfo kKernels[] = {
    rms_norm_entry<kRowsAvx512, Isa::kAvx512>("rms_norm_f32_avx512"),
    rms_norm_entry<kRowsAvx2, Isa::kAvx2>("rms_norm_f32_avx2"),
    rms_norm_entry<kRowsGeneric, Isa::kGeneric>("rms_norm_f32_generic"),
    add_rms_norm_entry<kRowsAvx512, Isa::kAvx512>("add_rms_norm_f32_avx512"),
    add_rms_norm_entry<kRowsAvx2, Isa::kAvx2>("add_rms_norm_f32_avx2"),
    add_rms_norm_entry<kRowsGeneric, Isa::kGeneric>("add_rms_norm_f32_generic"),
    swiglu_entry<kRowsAvx512, Isa::kAvx512>("swiglu_f32_avx512"),
    swiglu_entry<kRowsAvx2, Isa::kAvx2>("swiglu_f32_avx2"),
    swiglu_entry<kRowsGeneric, Isa::kGeneric>("swiglu_f32_generic"),
};

}  // namespace

std::span<const KernelInfo> row_kernels() { return kKernels; }

}  // namespace camshaft::kernels
