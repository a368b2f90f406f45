// Ops that read a weight matrix: gemm, embedding, concat_rows.
#include "base/format.h"
#include "ops/op_table.h"

namespace camshaft::ops {
namespace {

double matrix_bytes(tensor::Format weight, int64_t rows, int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(tensor::format_bytes(weight, columns));
}

Status check_gemm(const OpDesc& any) {
  const auto& desc = std::get<GemmDesc>(any);
  CS_RETURN_IF_ERROR(check_size("gemm", "n", desc.n));
  CS_RETURN_IF_ERROR(check_size("gemm", "k", desc.k));
  return check_blocks("gemm", "k", desc.k, desc.weight);
}

Result<Types> infer_gemm(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<GemmDesc>(any);
  InputChecker check("gemm", inputs, desc.bias ? 3 : 2);
  check.rows(0, "x", desc.k);
  check.weight(1, "weight", {desc.n, desc.k}, desc.weight);
  if (desc.bias) check.weight(2, "bias", {desc.n}, tensor::Format::kF32);
  return check.finish({check.rows_of(desc.n)});
}

OpCost cost_gemm(const OpDesc& any, int64_t rows, int64_t) {
  const auto& desc = std::get<GemmDesc>(any);
  const double r = static_cast<double>(rows), n = static_cast<double>(desc.n), k = static_cast<double>(desc.k);
  return {2 * r * n * k, matrix_bytes(desc.weight, desc.n, desc.k) + (desc.bias ? 4 * n : 0), 4 * r * (n + k)};
}

Status check_embedding(const OpDesc& any) {
  const auto& desc = std::get<EmbeddingDesc>(any);
  CS_RETURN_IF_ERROR(check_size("embedding", "vocab", desc.vocab));
  CS_RETURN_IF_ERROR(check_size("embedding", "hidden", desc.hidden));
  return check_blocks("embedding", "hidden", desc.hidden, desc.weight);
}

Result<Types> infer_embedding(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<EmbeddingDesc>(any);
  InputChecker check("embedding", inputs, 2);
  check.kind(0, "ids", ValueType::Kind::kIds);
  check.weight(1, "table", {desc.vocab, desc.hidden}, desc.weight);
  if (check.status().ok()) check.set_row_dim(inputs[0].shape[0]);
  return check.finish({check.rows_of(desc.hidden)});
}

OpCost cost_embedding(const OpDesc& any, int64_t rows, int64_t) {
  const auto& desc = std::get<EmbeddingDesc>(any);
  return {0, matrix_bytes(desc.weight, rows, desc.hidden), 4 * static_cast<double>(rows) * static_cast<double>(desc.hidden + 1)};
}

Status check_concat(const OpDesc&) { return base::ok_status(); }

// Shapes agree in everything but the number of rows; vectors (biases) are joined end to end.
Result<Types> infer_concat(const OpDesc&, const Types& inputs) {
  if (inputs.empty()) return base::invalid_argument("concat_rows: 0 inputs, expected 1 or more");
  ValueType joined = inputs[0];
  InputChecker check("concat_rows", inputs, inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].kind != ValueType::Kind::kWeight || inputs[i].shape.empty() || inputs[i].shape.size() > 2) {
      check.fail(i, "weight", "a weight of one or two dimensions");
      break;
    }
    ValueType expected = inputs[0];
    expected.shape[0] = inputs[i].shape[0];
    check.exact(i, "weight", expected);
    CS_RETURN_IF_ERROR(check_size("concat_rows", "rows", inputs[i].shape[0].size));
    if (i > 0) joined.shape[0].size += inputs[i].shape[0].size;
    CS_RETURN_IF_ERROR(check_size("concat_rows", "rows together", joined.shape[0].size));
  }
  return check.finish({joined});
}

OpCost cost_concat(const OpDesc&, int64_t, int64_t) { return {}; }

}  // namespace

const OpInfo kGemmOp = {"gemm", check_gemm, infer_gemm, cost_gemm};
const OpInfo kEmbeddingOp = {"embedding", check_embedding, infer_embedding, cost_embedding};
const OpInfo kConcatRowsOp = {"concat_rows", check_concat, infer_concat, cost_concat};

}  // namespace camshaft::ops
