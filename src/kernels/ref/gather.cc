// Reference of the ops that copy rows: embedding, gather_rows, slice.
#include <cstring>

#include "kernels/entry.h"
#include "kernels/layouts.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

const WeightLayout* embedding_layout(const ops::OpDesc& desc) { return rows_layout(std::get<ops::EmbeddingDesc>(desc).weight); }

void run_embedding(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const int64_t hidden = desc_of<ops::EmbeddingDesc>(context).hidden;
  const WeightLayout& layout = *context.layout;
  const auto* ids = static_cast<const int32_t*>(call.in[0].data);
  const auto* table = static_cast<const std::byte*>(call.in[1].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const std::byte* group = table + ids[row] / layout.row_group * layout.group_bytes(hidden);
    layout.unpack_row(group, ids[row] % layout.row_group, hidden, row_of(call.out[0], row));
  }
}

void run_gather_rows(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const int64_t columns = desc_of<ops::GatherRowsDesc>(context).columns;
  const auto* index = static_cast<const int32_t*>(call.in[1].data);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    memcpy(row_of(call.out[0], row), row_of(call.in[0], index[row]), static_cast<size_t>(columns) * sizeof(float));
  }
}

void run_slice(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::SliceDesc>(context);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    memmove(row_of(call.out[0], row), row_of(call.in[0], row) + desc.begin, static_cast<size_t>(desc.columns) * sizeof(float));
  }
}

}  // namespace

constinit const KernelInfo kEmbeddingRef = {"embedding_ref", ops::OpKind::kEmbedding, supports_all, one_tactic,
                                            no_workspace,    embedding_layout,        run_embedding};
constinit const KernelInfo kGatherRowsRef = {"gather_rows_ref", ops::OpKind::kGatherRows, supports_all, one_tactic, no_workspace,
                                             no_layout,         run_gather_rows};
constinit const KernelInfo kSliceRef = {"slice_ref",  ops::OpKind::kSlice, supports_all, one_tactic,
                                        no_workspace, no_layout,           run_slice};

}  // namespace camshaft::kernels
