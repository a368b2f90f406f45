// Entries of the ops that copy rows: embedding, gather_rows, slice. Nothing here depends on the instruction set; rows are cut into
// pieces where a piece can be copied alone.
#include <cstring>

#include "kernels/cpu/isa_entry.h"
#include "kernels/cpu/other_ops.h"
#include "kernels/layouts.h"

namespace camshaft::kernels {
namespace {

void copy_row(const float* from, float* to, int64_t columns) { memmove(to, from, static_cast<size_t>(columns) * sizeof(float)); }

// Any layout of the format will do: usually the one that the output GEMM of a tied embedding has packed.
const WeightLayout* embedding_layout(const ops::OpDesc& desc) { return rows_layout(std::get<ops::EmbeddingDesc>(desc).weight); }

void run_embedding(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const int64_t hidden = desc_of<ops::EmbeddingDesc>(context).hidden;
  const WeightLayout& layout = *context.layout;
  const int64_t group_bytes = layout.group_bytes(hidden);
  const auto* ids = static_cast<const int32_t*>(call.in[0].data);
  const auto* table = static_cast<const std::byte*>(call.in[1].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    layout.unpack_row(table + ids[row] / layout.row_group * group_bytes, ids[row] % layout.row_group, hidden,
                      row_of(call.out[0], row));
  }
}

void run_gather_rows(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto* index = static_cast<const int32_t*>(call.in[1].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    copy_row(row_of(call.in[0], index[row]), row_of(call.out[0], row), desc_of<ops::GatherRowsDesc>(context).columns);
  }
}

void run_slice(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::SliceDesc>(context);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row)
    copy_row(row_of(call.in[0], row) + desc.begin, row_of(call.out[0], row), desc.columns);
}

constexpr KernelInfo kKernels[] = {
    {"embedding_generic", ops::OpKind::kEmbedding, supports_all, one_tactic, no_workspace, embedding_layout, run_embedding},
    {"gather_rows_generic", ops::OpKind::kGatherRows, supports_all, one_tactic, no_workspace, no_layout, run_gather_rows},
    {"slice_generic", ops::OpKind::kSlice, supports_all, one_tactic, no_workspace, no_layout, run_slice},
};

}  // namespace

std::span<const KernelInfo> gather_kernels() { return kKernels; }

}  // namespace camshaft::kernels
