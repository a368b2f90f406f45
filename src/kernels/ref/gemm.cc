// Reference of gemm for every weight format and activation type. Activations become numbers of their type (integers and a scale a
// block) in f32; the dot product of those with the unpacked weights is taken in double.
#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "kernels/entry.h"
#include "kernels/layouts.h"
#include "kernels/ref/ref.h"
#include "tensor/dtype.h"

namespace camshaft::kernels {
namespace {

using ops::ActivationType;

constexpr int64_t kBlock = 32;

int64_t num_blocks(int64_t k) { return (k + kBlock - 1) / kBlock; }

// Workspace: activations [rows, k], their scales [rows, blocks], then one unpacked weight row [k] a worker.
struct Workspace {
  float* values;
  float* scales;
  float* weight_row;
};

Workspace workspace_of(const ops::GemmDesc& desc, const device::Launch& launch, const KernelCall& call) {
  float* values = reinterpret_cast<float*>(call.workspace);
  float* scales = values + call.rows * desc.k;
  return {values, scales, scales + call.rows * num_blocks(desc.k) + launch.worker * desc.k};
}

int64_t gemm_workspace(const ops::OpDesc& desc, const Caps&, int64_t max_rows, int max_workers) {
  const int64_t k = std::get<ops::GemmDesc>(desc).k;
  return (max_rows * (k + num_blocks(k)) + max_workers * k) * int64_t{sizeof(float)};
}

Support gemm_supports(const ops::OpDesc& desc, const Caps&) {
  const tensor::Format weight = std::get<ops::GemmDesc>(desc).weight;
  if (rows_layout(weight) != nullptr) return Support::ok();
  return Support::no(format("weights of format {} are no numbers to multiply with", tensor::format_info(weight).name));
}

const WeightLayout* gemm_layout(const ops::OpDesc& desc) { return rows_layout(std::get<ops::GemmDesc>(desc).weight); }

// x[0..n) as integers of at most `limit`, and their scale.
float quantise_block(const float* x, int64_t n, float limit, float* q) {
  float amax = 0;
  for (int64_t i = 0; i < n; ++i) amax = std::max(amax, std::fabs(x[i]));
  const float scale = amax / limit;
  for (int64_t i = 0; i < n; ++i) {
    q[i] = scale == 0.0f ? 0.0f : std::clamp(std::nearbyint(x[i] / scale), -limit, limit);
  }
  return scale;
}

void convert_row(ActivationType type, const float* x, int64_t k, float* values, float* scales) {
  const float limit = type == ActivationType::kI16B32 ? 32385.0f : 127.0f;
  for (int64_t block = 0; block < num_blocks(k); ++block) {
    const int64_t begin = block * kBlock, n = std::min(kBlock, k - begin);
    scales[block] = 1.0f;
    if (type == ActivationType::kI8B32 || type == ActivationType::kI16B32) {
      scales[block] = quantise_block(x + begin, n, limit, values + begin);
      continue;
    }
    for (int64_t i = begin; i < begin + n; ++i) {
      values[i] = type == ActivationType::kBF16 ? tensor::bf16_to_f32(tensor::f32_to_bf16(x[i])) : x[i];
    }
  }
}

double dot_block(const float* a, const float* b, int64_t n) {
  double lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += double{a[i + lane]} * b[i + lane];
  }
  double sum = 0;
  for (; i < n; ++i) sum += double{a[i]} * b[i];
  for (double lane : lanes) sum += lane;
  return sum;
}

double dot(const float* values, const float* scales, const float* w, int64_t k) {
  double sum = 0;
  for (int64_t block = 0; block < num_blocks(k); ++block) {
    const int64_t begin = block * kBlock;
    sum += scales[block] * dot_block(values + begin, w + begin, std::min(kBlock, k - begin));
  }
  return sum;
}

void run_gemm(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::GemmDesc>(context);
  const Workspace space = workspace_of(desc, launch, call);
  const auto [row_begin, row_end] = share_of(launch, call.rows);
  for (int64_t row = row_begin; row < row_end; ++row) {
    convert_row(desc.activation, row_of(call.in[0], row), desc.k, space.values + row * desc.k,
                space.scales + row * num_blocks(desc.k));
  }
  launch.barrier();
  const WeightLayout& layout = *context.layout;
  const auto* weights = static_cast<const std::byte*>(call.in[1].data);
  const float* bias = desc.bias ? static_cast<const float*>(call.in[2].data) : nullptr;
  const auto [begin, end] = share_of(launch, desc.n);
  for (int64_t column = begin; column < end; ++column) {
    layout.unpack_row(weights + column / layout.row_group * layout.group_bytes(desc.k), column % layout.row_group, desc.k,
                      space.weight_row);
    for (int64_t row = 0; row < call.rows; ++row) {
      const double sum = dot(space.values + row * desc.k, space.scales + row * num_blocks(desc.k), space.weight_row, desc.k);
      row_of(call.out[0], row)[column] = static_cast<float>(bias == nullptr ? sum : sum + bias[column]);
    }
  }
}

}  // namespace

constinit const KernelInfo kGemmRef = {"gemm_ref",     ops::OpKind::kGemm, gemm_supports, one_tactic,
                                       gemm_workspace, gemm_layout,        run_gemm};

}  // namespace camshaft::kernels
