// rms_norm and its form fused with the residual addition.
#include "base/format.h"
#include "ops/op_table.h"

namespace camshaft::ops {
namespace {

Status check_norm(std::string_view op, int64_t hidden, float eps) {
  CS_RETURN_IF_ERROR(check_size(op, "hidden", hidden));
  if (eps >= 0 && eps < 1) return base::ok_status();
  return base::invalid_argument(format("{}: eps is {}; 0 or more and below 1 is allowed", op, eps));
}

Status check_rms_norm(const OpDesc& any) {
  const auto& desc = std::get<RmsNormDesc>(any);
  return check_norm("rms_norm", desc.hidden, desc.eps);
}

Result<Types> infer_rms_norm(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<RmsNormDesc>(any);
  InputChecker check("rms_norm", inputs, 2);
  check.rows(0, "x", desc.hidden);
  check.weight(1, "weight", {desc.hidden}, tensor::Format::kF32);
  return check.finish({check.rows_of(desc.hidden)});
}

OpCost cost_rms_norm(const OpDesc& any, int64_t rows, int64_t) {
  const double hidden = static_cast<double>(std::get<RmsNormDesc>(any).hidden), r = static_cast<double>(rows);
  return {4 * r * hidden, 4 * hidden, 8 * r * hidden};
}

Status check_add_rms_norm(const OpDesc& any) {
  const auto& desc = std::get<AddRmsNormDesc>(any);
  return check_norm("add_rms_norm", desc.hidden, desc.eps);
}

Result<Types> infer_add_rms_norm(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<AddRmsNormDesc>(any);
  InputChecker check("add_rms_norm", inputs, 3);
  check.rows(0, "a", desc.hidden);
  check.rows(1, "b", desc.hidden);
  check.weight(2, "weight", {desc.hidden}, tensor::Format::kF32);
  return check.finish({check.rows_of(desc.hidden), check.rows_of(desc.hidden)});
}

OpCost cost_add_rms_norm(const OpDesc& any, int64_t rows, int64_t) {
  const double hidden = static_cast<double>(std::get<AddRmsNormDesc>(any).hidden), r = static_cast<double>(rows);
  return {5 * r * hidden, 4 * hidden, 16 * r * hidden};
}

}  // namespace

const OpInfo kRmsNormOp = {"rms_norm", check_rms_norm, infer_rms_norm, cost_rms_norm};
const OpInfo kAddRmsNormOp = {"add_rms_norm", check_add_rms_norm, infer_add_rms_norm, cost_add_rms_norm};

}  // namespace camshaft::ops
