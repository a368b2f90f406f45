// Ops that look at each element, or only move rows and columns: add, mul, silu, swiglu, slice, gather_rows.
#include "base/format.h"
#include "ops/op_table.h"

namespace camshaft::ops {
namespace {

// `flops` an output element, `values` read and written for it.
OpCost per_element(int64_t rows, int64_t columns, double flops, double values) {
  const double elements = static_cast<double>(rows) * static_cast<double>(columns);
  return {flops * elements, 0, 4 * values * elements};
}

template <typename Desc>
Status check_columns(const OpDesc& any) {
  return check_size(op_name(op_kind(any)), "columns", std::get<Desc>(any).columns);
}

template <typename Desc>
Result<Types> infer_binary(const OpDesc& any, const Types& inputs) {
  const int64_t columns = std::get<Desc>(any).columns;
  InputChecker check(op_name(op_kind(any)), inputs, 2);
  check.rows(0, "a", columns);
  check.rows(1, "b", columns);
  return check.finish({check.rows_of(columns)});
}

Result<Types> infer_silu(const OpDesc& any, const Types& inputs) {
  const int64_t columns = std::get<SiluDesc>(any).columns;
  InputChecker check("silu", inputs, 1);
  check.rows(0, "x", columns);
  return check.finish({check.rows_of(columns)});
}

Result<Types> infer_swiglu(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<SwigluDesc>(any);
  InputChecker check("swiglu", inputs, desc.merged ? 1 : 2);
  check.rows(0, desc.merged ? "gate_up" : "gate", desc.merged ? 2 * desc.columns : desc.columns);
  if (!desc.merged) check.rows(1, "up", desc.columns);
  return check.finish({check.rows_of(desc.columns)});
}

Status check_slice(const OpDesc& any) {
  const auto& desc = std::get<SliceDesc>(any);
  CS_RETURN_IF_ERROR(check_size("slice", "begin", desc.begin, 0));
  return check_size("slice", "columns", desc.columns);
}

Result<Types> infer_slice(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<SliceDesc>(any);
  InputChecker check("slice", inputs, 1);
  if (!check.status().ok()) return check.status();
  const bool wide_enough = inputs[0].kind == ValueType::Kind::kRows && inputs[0].shape.size() == 2 &&
                           inputs[0].shape[1].symbol == Symbol::kNone && inputs[0].shape[1].size >= desc.begin + desc.columns;
  if (!wide_enough) check.fail(0, "x", format("f32 rows of {} columns or more", desc.begin + desc.columns));
  if (wide_enough) check.rows(0, "x", inputs[0].shape[1].size);
  return check.finish({check.rows_of(desc.columns)});
}

Result<Types> infer_gather(const OpDesc& any, const Types& inputs) {
  const int64_t columns = std::get<GatherRowsDesc>(any).columns;
  InputChecker check("gather_rows", inputs, 2);
  check.rows(0, "x", columns);
  check.kind(1, "row_index", ValueType::Kind::kRowIndex);
  if (check.status().ok()) check.set_row_dim(inputs[1].shape[0]);
  return check.finish({check.rows_of(columns)});
}

template <typename Desc, int kFlops, int kValues>
OpCost cost_columns(const OpDesc& any, int64_t rows, int64_t) {
  return per_element(rows, std::get<Desc>(any).columns, kFlops, kValues);
}

// A view: nothing moves.
OpCost cost_slice(const OpDesc&, int64_t, int64_t) { return {}; }

}  // namespace

// An exponential counts as four operations.
const OpInfo kAddOp = {"add", check_columns<AddDesc>, infer_binary<AddDesc>, cost_columns<AddDesc, 1, 3>};
const OpInfo kMulOp = {"mul", check_columns<MulDesc>, infer_binary<MulDesc>, cost_columns<MulDesc, 1, 3>};
const OpInfo kSiluOp = {"silu", check_columns<SiluDesc>, infer_silu, cost_columns<SiluDesc, 6, 2>};
const OpInfo kSwigluOp = {"swiglu", check_columns<SwigluDesc>, infer_swiglu, cost_columns<SwigluDesc, 7, 3>};
const OpInfo kSliceOp = {"slice", check_slice, infer_slice, cost_slice};
const OpInfo kGatherRowsOp = {"gather_rows", check_columns<GatherRowsDesc>, infer_gather, cost_columns<GatherRowsDesc, 0, 2>};

}  // namespace camshaft::ops
