// Ops around the cache: rope, kv_write, their fused form, attention.
#include "base/format.h"
#include "ops/op_table.h"

namespace camshaft::ops {
namespace {

// Costs assume a cache of 16-bit elements.
constexpr double kKvBytes = 2;

Status check_rope_op(const OpDesc& any) {
  const auto& desc = std::get<RopeDesc>(any);
  CS_RETURN_IF_ERROR(check_size("rope", "heads", desc.heads, 1, 65535));
  return check_rope("rope", desc.rope);
}

Result<Types> infer_rope(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<RopeDesc>(any);
  const int64_t columns = desc.heads * desc.rope.head_dim;
  InputChecker check("rope", inputs, 1);
  check.rows(0, "x", columns);
  return check.finish({check.rows_of(columns)});
}

OpCost cost_rope(const OpDesc& any, int64_t rows, int64_t) {
  const auto& desc = std::get<RopeDesc>(any);
  const double elements = static_cast<double>(rows) * static_cast<double>(desc.heads * desc.rope.head_dim);
  return {3 * elements, 0, 8 * elements};
}

Status check_kv_write(const OpDesc& any) { return check_kv_shape("kv_write", std::get<KvWriteDesc>(any).kv); }

Result<Types> infer_kv_write(const OpDesc& any, const Types& inputs) {
  const KvShape& kv = std::get<KvWriteDesc>(any).kv;
  InputChecker check("kv_write", inputs, 2);
  check.rows(0, "k", kv.kv_heads * kv.head_dim);
  check.rows(1, "v", kv.kv_heads * kv.head_dim);
  return check.finish({kv_state_type(kv)});
}

OpCost cost_kv_write(const OpDesc& any, int64_t rows, int64_t) {
  const KvShape& kv = std::get<KvWriteDesc>(any).kv;
  return {0, 0, (4 + kKvBytes) * 2 * static_cast<double>(rows) * static_cast<double>(kv.kv_heads * kv.head_dim)};
}

Status check_rope_kv_write(const OpDesc& any) {
  const auto& desc = std::get<RopeKvWriteDesc>(any);
  CS_RETURN_IF_ERROR(check_heads("rope_kv_write", desc.heads, desc.kv));
  CS_RETURN_IF_ERROR(check_rope("rope_kv_write", desc.rope));
  if (desc.rope.head_dim == desc.kv.head_dim) return base::ok_status();
  return base::invalid_argument(
      format("rope_kv_write: head_dim is {} for rope and {} for the cache", desc.rope.head_dim, desc.kv.head_dim));
}

Result<Types> infer_rope_kv_write(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<RopeKvWriteDesc>(any);
  InputChecker check("rope_kv_write", inputs, 1);
  check.rows(0, "qkv", (desc.heads + 2 * desc.kv.kv_heads) * desc.kv.head_dim);
  return check.finish({check.rows_of(desc.heads * desc.kv.head_dim), kv_state_type(desc.kv)});
}

OpCost cost_rope_kv_write(const OpDesc& any, int64_t rows, int64_t) {
  const auto& desc = std::get<RopeKvWriteDesc>(any);
  const double r = static_cast<double>(rows);
  const double q = r * static_cast<double>(desc.heads * desc.kv.head_dim);
  const double kv = r * static_cast<double>(desc.kv.kv_heads * desc.kv.head_dim);
  return {3 * (q + kv), 0, 8 * q + 2 * (4 + kKvBytes) * kv};
}

Status check_attention(const OpDesc& any) {
  const auto& desc = std::get<AttentionDesc>(any);
  CS_RETURN_IF_ERROR(check_heads("attention", desc.heads, desc.kv));
  if (desc.scale > 0 && desc.scale < 1e6f) return base::ok_status();
  return base::invalid_argument(format("attention: scale is {}; above 0 and below 1e6 is allowed", desc.scale));
}

Result<Types> infer_attention(const OpDesc& any, const Types& inputs) {
  const auto& desc = std::get<AttentionDesc>(any);
  const int64_t columns = desc.heads * desc.kv.head_dim;
  InputChecker check("attention", inputs, 2);
  check.rows(0, "q", columns);
  check.exact(1, "kv", kv_state_type(desc.kv));
  return check.finish({check.rows_of(columns)});
}

// Each row reads its own cache, as in decode; rows of a prefill share it, so there the bytes are an upper bound.
OpCost cost_attention(const OpDesc& any, int64_t rows, int64_t context) {
  const auto& desc = std::get<AttentionDesc>(any);
  const double r = static_cast<double>(rows), keys = static_cast<double>(context);
  const double q = static_cast<double>(desc.heads * desc.kv.head_dim),
               kv = static_cast<double>(desc.kv.kv_heads * desc.kv.head_dim);
  return {r * keys * (4 * q + 5 * static_cast<double>(desc.heads)), 0, 8 * r * q + 2 * kKvBytes * r * keys * kv};
}

}  // namespace

const OpInfo kRopeOp = {"rope", check_rope_op, infer_rope, cost_rope};
const OpInfo kKvWriteOp = {"kv_write", check_kv_write, infer_kv_write, cost_kv_write};
const OpInfo kRopeKvWriteOp = {"rope_kv_write", check_rope_kv_write, infer_rope_kv_write, cost_rope_kv_write};
const OpInfo kAttentionOp = {"attention", check_attention, infer_attention, cost_attention};

}  // namespace camshaft::ops
