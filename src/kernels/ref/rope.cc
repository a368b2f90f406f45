// Reference of rope, kv_write and rope_kv_write.
#include <cstring>

#include "kernels/entry.h"
#include "kernels/ref/kv_access.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

// Turns one head by its position; y may be x.
void rope_head(const ops::RopeParams& rope, const float* table, int64_t position, const float* x, float* y) {
  const int64_t pairs = rope.rotary_dim / 2;
  const float *cosines = table + position * rope.rotary_dim, *sines = cosines + pairs;
  const bool interleaved = rope.pairs == ops::RopeParams::Pairs::kInterleaved;
  for (int64_t i = 0; i < pairs; ++i) {
    const int64_t first = interleaved ? 2 * i : i, second = interleaved ? 2 * i + 1 : i + pairs;
    const double a = x[first], b = x[second];
    y[first] = static_cast<float>(a * cosines[i] - b * sines[i]);
    y[second] = static_cast<float>(a * sines[i] + b * cosines[i]);
  }
  for (int64_t i = rope.rotary_dim; i < rope.head_dim; ++i) y[i] = x[i];
}

void run_rope(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::RopeDesc>(context);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t head = 0; head < desc.heads; ++head) {
      const int64_t at = head * desc.rope.head_dim;
      rope_head(desc.rope, context.rope_table, call.batch->positions[row], row_of(call.in[0], row) + at,
                row_of(call.out[0], row) + at);
    }
  }
}

// Writes one row's keys and values of all KV heads.
void write_row(const RunContext& context, const ops::KvShape& kv, const BatchView& batch, int64_t row, const float* keys,
               const float* values) {
  const int64_t position = batch.positions[row];
  for (int64_t head = 0; head < kv.kv_heads; ++head) {
    KvHead cache(context.caps->kv, batch, sequence_of(batch, row), kv.layer, head);
    for (int64_t dim = 0; dim < kv.head_dim; ++dim) {
      cache.set_key(position, dim, keys[head * kv.head_dim + dim]);
      cache.set_value(position, dim, values[head * kv.head_dim + dim]);
    }
  }
}

void run_kv_write(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::KvWriteDesc>(context);
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    write_row(context, desc.kv, *call.batch, row, row_of(call.in[0], row), row_of(call.in[1], row));
  }
}

// Room for one row's turned keys a worker.
int64_t key_workspace(const ops::OpDesc& desc, const Caps&, int64_t, int max_workers) {
  const ops::KvShape& kv = std::get<ops::RopeKvWriteDesc>(desc).kv;
  return max_workers * kv.kv_heads * kv.head_dim * int64_t{sizeof(float)};
}

void run_rope_kv_write(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::RopeKvWriteDesc>(context);
  const int64_t head_dim = desc.kv.head_dim, kv_columns = desc.kv.kv_heads * head_dim;
  float* turned = reinterpret_cast<float*>(call.workspace) + launch.worker * kv_columns;
  const auto [begin, end] = share_of(launch, call.rows);
  for (int64_t row = begin; row < end; ++row) {
    const float* q = row_of(call.in[0], row);
    const float *k = q + desc.heads * head_dim, *v = k + kv_columns;
    const int64_t position = call.batch->positions[row];
    for (int64_t head = 0; head < desc.kv.kv_heads; ++head) {
      rope_head(desc.rope, context.rope_table, position, k + head * head_dim, turned + head * head_dim);
    }
    write_row(context, desc.kv, *call.batch, row, turned, v);
    for (int64_t head = 0; head < desc.heads; ++head) {
      rope_head(desc.rope, context.rope_table, position, q + head * head_dim, row_of(call.out[0], row) + head * head_dim);
    }
  }
}

}  // namespace

constinit const KernelInfo kRopeRef = {"rope_ref", ops::OpKind::kRope, supports_all, one_tactic, no_workspace, no_layout, run_rope};
constinit const KernelInfo kKvWriteRef = {"kv_write_ref", ops::OpKind::kKvWrite, supports_all, one_tactic, no_workspace,
                                          no_layout,      run_kv_write};
constinit const KernelInfo kRopeKvWriteRef = {
    "rope_kv_write_ref", ops::OpKind::kRopeKvWrite, supports_all, one_tactic, key_workspace, no_layout, run_rope_kv_write};

}  // namespace camshaft::kernels
