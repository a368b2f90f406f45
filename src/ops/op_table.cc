// The op table: names, and dispatch of checks, shapes and cost to each op's own file.
#include "ops/op_table.h"

#include "base/format.h"

namespace camshaft::ops {
namespace {

constexpr std::array<const OpInfo*, kNumOpKinds> kTable = {
    &kEmbeddingOp, &kRmsNormOp, &kAddRmsNormOp, &kGemmOp,        &kAddOp,       &kMulOp,        &kSiluOp,       &kSwigluOp,
    &kSliceOp,     &kRopeOp,    &kKvWriteOp,    &kRopeKvWriteOp, &kAttentionOp, &kGatherRowsOp, &kConcatRowsOp,
};

constexpr std::array<std::string_view, 4> kActivationNames = {"f32", "bf16", "i8b32", "i16b32"};

}  // namespace

const OpInfo& op_info(OpKind kind) { return *kTable[static_cast<size_t>(kind)]; }

std::string_view op_name(OpKind kind) { return op_info(kind).name; }

Result<OpKind> parse_op(std::string_view name) {
  std::string known;
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i]->name == name) return static_cast<OpKind>(i);
    known += (i == 0 ? "" : ", ") + std::string(kTable[i]->name);
  }
  return base::invalid_argument(format("'{}' is no op; there are: {}", name, known));
}

std::string_view activation_name(ActivationType type) { return kActivationNames[static_cast<size_t>(type)]; }

Result<ActivationType> parse_activation(std::string_view name) {
  for (size_t i = 0; i < kActivationNames.size(); ++i) {
    if (kActivationNames[i] == name) return static_cast<ActivationType>(i);
  }
  return base::invalid_argument(format("'{}' is no activation type; there are: f32, bf16, i8b32, i16b32", name));
}

Status check_desc(const OpDesc& desc) { return op_info(op_kind(desc)).check(desc); }

Result<std::vector<ValueType>> infer_types(const OpDesc& desc, const std::vector<ValueType>& inputs) {
  CS_RETURN_IF_ERROR(check_desc(desc));
  return op_info(op_kind(desc)).infer(desc, inputs);
}

OpCost op_cost(const OpDesc& desc, int64_t rows, int64_t context) { return op_info(op_kind(desc)).cost(desc, rows, context); }

}  // namespace camshaft::ops
