// Reference of attention over the paged cache: softmax by the largest score, everything in double. Scores are computed twice, so
// that no memory grows with the context.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/entry.h"
#include "kernels/ref/kv_access.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

// One sum [head_dim] a worker.
int64_t sum_workspace(const ops::OpDesc& desc, const Caps&, int64_t, int max_workers) {
  return max_workers * std::get<ops::AttentionDesc>(desc).kv.head_dim * int64_t{sizeof(double)};
}

double score(const KvHead& cache, int64_t position, const float* q, int64_t head_dim) {
  double sum = 0;
  for (int64_t dim = 0; dim < head_dim; ++dim) sum += double{q[dim]} * cache.key(position, dim);
  return sum;
}

// One head of one row: keys at positions 0 to `last`.
void attend(const ops::AttentionDesc& desc, const KvHead& cache, int64_t last, const float* q, double* sums, float* y) {
  const int64_t head_dim = desc.kv.head_dim;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t position = 0; position <= last; ++position) {
    largest = std::max(largest, desc.scale * score(cache, position, q, head_dim));
  }
  std::fill_n(sums, head_dim, 0.0);
  double total = 0;
  for (int64_t position = 0; position <= last; ++position) {
    const double weight = std::exp(desc.scale * score(cache, position, q, head_dim) - largest);
    total += weight;
    for (int64_t dim = 0; dim < head_dim; ++dim) sums[dim] += weight * cache.value(position, dim);
  }
  for (int64_t dim = 0; dim < head_dim; ++dim) y[dim] = static_cast<float>(sums[dim] / total);
}

void run_attention(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::AttentionDesc>(context);
  const int64_t head_dim = desc.kv.head_dim, heads_per_kv = desc.heads / desc.kv.kv_heads;
  double* sums = reinterpret_cast<double*>(call.workspace) + launch.worker * head_dim;
  const auto [begin, end] = share_of(launch, call.rows * desc.heads);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t row = item / desc.heads, head = item % desc.heads;
    const KvHead cache(context.caps->kv, *call.batch, sequence_of(*call.batch, row), desc.kv.layer, head / heads_per_kv);
    attend(desc, cache, call.batch->positions[row], row_of(call.in[0], row) + head * head_dim, sums,
           row_of(call.out[0], row) + head * head_dim);
  }
}

}  // namespace

constinit const KernelInfo kAttentionRef = {
    "attention_ref", ops::OpKind::kAttention, supports_all, one_tactic, sum_workspace, no_layout, run_attention};

}  // namespace camshaft::kernels
