// The GEMM entries of the CPU's list: which kernel takes what, and how workers share a call.
//
// Phase one prepares the rows of x in the workspace (quantised, or columns side by side), phase two multiplies. A single row is
// prepared by every worker for itself, which costs less than a barrier; more rows, or very many outputs, are prepared together and
// then taken piece by piece from a counter, so that a worker whose core is stolen holds up the others only by one piece.
#include "kernels/cpu/gemm/gemm.h"

#include <algorithm>
#include <atomic>

#include "base/format.h"
#include "base/thread_pool.h"
#include "kernels/cpu/gemm/layouts.h"
#include "kernels/cpu/gemm/micro.inl.h"

namespace camshaft::kernels {
namespace gemm {
namespace {

using ops::ActivationType;
using ops::GemmDesc;
using tensor::Format;

constexpr int64_t kLine = 64;
constexpr int64_t kCounterBytes = kLine;
// Prepared rows a worker goes through before it takes the next groups of weights: they stay in the second-level cache.
constexpr int64_t kChunkBytes = 512 << 10;
// Outputs from which even a single row is shared out by pieces (the vocabulary).
constexpr int64_t kManyGroups = 1024;
constexpr int64_t kPiecesPerWorker = 8;

// One kernel: a name, the case it takes, and its functions.
struct Variant {
  std::string_view name;
  Isa isa;
  Format weight;
  ActivationType activation;
  const WeightLayout* layout;
  const Micro* micro;
};

int64_t blocks_of(int64_t k) { return (k + kBlock - 1) / kBlock; }
int64_t groups_of(int64_t n) { return (n + kLanes - 1) / kLanes; }
int64_t to_lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }
int64_t prepared_row_bytes(const Micro& micro, int64_t k) { return blocks_of(k) * micro.unit_bytes; }
bool is_block_format(Format format) { return format == Format::kI4B32M || format == Format::kI8B32; }

Tiling tiling_of(int64_t rows, int64_t max_tile) {
  const int64_t count = (rows + max_tile - 1) / max_tile;
  return {rows / count, rows % count, count};
}

std::byte* align(std::byte* at) { return at + (-reinterpret_cast<uintptr_t>(at) & (kLine - 1)); }

// Everything of a call that both phases need.
struct Job {
  Job(const Variant& variant, const device::Launch& launch, const RunContext& context, const KernelCall& call)
      : micro(*variant.micro), desc(std::get<GemmDesc>(*context.desc)), rows(call.rows) {
    tiling = tiling_of(rows, micro.max_tile);
    compute.weights = static_cast<const std::byte*>(call.in[1].data);
    compute.group_bytes = variant.layout->group_bytes(desc.k);
    compute.bias = desc.bias ? static_cast<const float*>(call.in[2].data) : nullptr;
    compute.y = static_cast<float*>(call.out[0].data);
    compute.y_stride = call.out[0].stride;
    compute.n = desc.n;
    compute.k = desc.k;
    compute.blocks = blocks_of(desc.k);
    compute.tiling = tiling;
    compute.tile_end = tiling.count;
    x = static_cast<const float*>(call.in[0].data);
    x_stride = call.in[0].stride;
    workspace = align(call.workspace);
    compute.scratch = workspace + kCounterBytes + launch.worker * micro.scratch_bytes;
    acts = workspace + kCounterBytes + launch.num_workers * micro.scratch_bytes;
  }

  void prepare(std::byte* to, base::WorkRange units) {
    micro.prepare({x, x_stride, desc.k, compute.blocks, tiling, to, units.begin, units.end});
    compute.acts = to;
  }

  const Micro& micro;
  const GemmDesc& desc;
  int64_t rows;
  Tiling tiling;
  ComputeArgs compute;
  const float* x;
  int64_t x_stride;
  // Workspace: the counter, every worker's scratch, the prepared rows.
  std::byte* workspace;
  std::byte* acts;
};

// A single row read where it stands must have an even number of columns: weights come in pairs.
bool needs_no_preparing(const Job& job) { return job.micro.reads_x && job.rows == 1 && job.desc.k % 2 == 0; }

void run_alone(const device::Launch& launch, Job& job) {
  if (needs_no_preparing(job)) {
    job.compute.acts = reinterpret_cast<const std::byte*>(job.x);
  } else {
    job.prepare(job.acts + launch.worker * to_lines(prepared_row_bytes(job.micro, job.desc.k)), {0, job.compute.blocks});
  }
  const base::WorkRange groups = base::work_share(groups_of(job.desc.n), 1, launch.worker, launch.num_workers);
  job.compute.group_begin = groups.begin;
  job.compute.group_end = groups.end;
  job.micro.compute(job.compute);
}

// Pieces are (chunk of tiles, range of groups), groups running fastest.
struct Pieces {
  Pieces(const Job& job, int num_workers) {
    const int64_t tile_bytes = (job.tiling.base + 1) * prepared_row_bytes(job.micro, job.desc.k);
    groups = groups_of(job.desc.n);
    tiles_per_chunk = std::clamp(kChunkBytes / tile_bytes, int64_t{1}, job.tiling.count);
    chunks = (job.tiling.count + tiles_per_chunk - 1) / tiles_per_chunk;
    // Whole steps of four groups, which float kernels take at once.
    groups_per_piece = std::max<int64_t>(4, groups / (kPiecesPerWorker * num_workers) / 4 * 4);
    pieces_per_chunk = (groups + groups_per_piece - 1) / groups_per_piece;
  }
  int64_t count() const { return chunks * pieces_per_chunk; }
  void select(int64_t piece, ComputeArgs* args) const {
    args->tile_begin = piece / pieces_per_chunk * tiles_per_chunk;
    args->tile_end = std::min(args->tile_begin + tiles_per_chunk, args->tiling.count);
    args->group_begin = piece % pieces_per_chunk * groups_per_piece;
    args->group_end = std::min(args->group_begin + groups_per_piece, groups);
  }

  int64_t groups, tiles_per_chunk, chunks, groups_per_piece, pieces_per_chunk;
};

void run_together(const device::Launch& launch, Job& job) {
  std::atomic_ref<int64_t> next(*reinterpret_cast<int64_t*>(job.workspace));
  // Safe here: whoever used the workspace before stands behind the barrier at the end of its call, the others read it after ours.
  if (launch.worker == 0) next.store(0, std::memory_order_relaxed);
  job.prepare(job.acts, base::work_share(job.rows * job.compute.blocks, 1, launch.worker, launch.num_workers));
  launch.barrier();
  const Pieces pieces(job, launch.num_workers);
  for (int64_t piece; (piece = next.fetch_add(1, std::memory_order_relaxed)) < pieces.count();) {
    pieces.select(piece, &job.compute);
    job.micro.compute(job.compute);
  }
}

void run_variant(const Variant& variant, const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  if (call.rows == 0) return;
  Job job(variant, launch, context, call);
  if (job.rows == 1 && groups_of(job.desc.n) < kManyGroups) {
    run_alone(launch, job);
  } else {
    run_together(launch, job);
  }
}

Support supports_variant(const Variant& variant, const ops::OpDesc& desc, const Caps& caps) {
  const GemmDesc* gemm = std::get_if<GemmDesc>(&desc);
  if (gemm == nullptr) return Support::no(format("the op is {}, not gemm", ops::op_name(ops::op_kind(desc))));
  if (caps.device != device::DeviceKind::kCpu) return Support::no("runs on the CPU only");
  if (caps.isa < variant.isa) {
    return Support::no(format("needs {}, the target is {}", isa_name(variant.isa), isa_name(caps.isa)));
  }
  if (gemm->weight != variant.weight) {
    return Support::no(
        format("takes {} weights, these are {}", tensor::format_info(variant.weight).name, tensor::format_info(gemm->weight).name));
  }
  if (gemm->activation != variant.activation) {
    return Support::no(format("takes {} activations, asked for {}", ops::activation_name(variant.activation),
                              ops::activation_name(gemm->activation)));
  }
  if (is_block_format(variant.weight) && gemm->k % kBlock != 0) {
    return Support::no(format("takes multiples of {} columns, k is {}", kBlock, gemm->k));
  }
  return Support::ok();
}

int64_t workspace_of(const Variant& variant, const GemmDesc& desc, int64_t max_rows, int max_workers) {
  const int64_t row = prepared_row_bytes(*variant.micro, desc.k);
  return kLine + kCounterBytes + max_workers * variant.micro->scratch_bytes + std::max(max_rows * row, max_workers * to_lines(row));
}

// Function pointers that know their variant.
template <const Variant& kVariant>
struct Entry {
  static Support supports(const ops::OpDesc& desc, const Caps& caps) { return supports_variant(kVariant, desc, caps); }
  static std::vector<Tactic> tactics(const ops::OpDesc&) { return {{0, "only"}}; }
  static int64_t workspace(const ops::OpDesc& desc, const Caps&, int64_t max_rows, int max_workers) {
    return workspace_of(kVariant, std::get<GemmDesc>(desc), max_rows, max_workers);
  }
  static const WeightLayout* layout(const ops::OpDesc&) { return kVariant.layout; }
  static void run(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
    run_variant(kVariant, launch, context, call);
  }
  static KernelInfo info() { return {kVariant.name, ops::OpKind::kGemm, supports, tactics, workspace, layout, run}; }
};

#define CS_GEMM_VARIANT(id, weight_name, activation_name, isa_id, weight, activation, layout, micro, isa) \
  constexpr Variant id = {"gemm_" weight_name "_" activation_name "_" #isa_id,                            \
                          Isa::isa,                                                                       \
                          Format::weight,                                                                 \
                          ActivationType::activation,                                                     \
                          &layout,                                                                        \
                          &isa_id::micro}

// One constant an instruction set, named k<micro>_<isa>.
#define CS_GEMM_BASE(micro, weight_name, activation_name, weight, activation, layout)                                \
  CS_GEMM_VARIANT(micro##_avx512, weight_name, activation_name, avx512, weight, activation, layout, micro, kAvx512); \
  CS_GEMM_VARIANT(micro##_avx2, weight_name, activation_name, avx2, weight, activation, layout, micro, kAvx2);       \
  CS_GEMM_VARIANT(micro##_generic, weight_name, activation_name, generic, weight, activation, layout, micro, kGeneric)
#define CS_GEMM_VNNI(micro, weight_name, activation_name, weight, activation, layout) \
  CS_GEMM_VARIANT(micro##_avx512vnni, weight_name, activation_name, avx512vnni, weight, activation, layout, micro, kAvx512Vnni)
#define CS_GEMM_BF16(micro, weight_name, activation_name, weight, activation, layout) \
  CS_GEMM_VARIANT(micro##_avx512bf16, weight_name, activation_name, avx512bf16, weight, activation, layout, micro, kAvx512Bf16)

CS_GEMM_VNNI(kI4I8, "i4b32m", "i8b32", kI4B32M, kI8B32, kI4Rows16);
CS_GEMM_BASE(kI4I8, "i4b32m", "i8b32", kI4B32M, kI8B32, kI4Rows16);
CS_GEMM_VNNI(kI4I16, "i4b32m", "i16b32", kI4B32M, kI16B32, kI4Rows16);
CS_GEMM_BASE(kI4I16, "i4b32m", "i16b32", kI4B32M, kI16B32, kI4Rows16);
CS_GEMM_VNNI(kI8I8, "i8b32", "i8b32", kI8B32, kI8B32, kI8Rows16);
CS_GEMM_BASE(kI8I8, "i8b32", "i8b32", kI8B32, kI8B32, kI8Rows16);
CS_GEMM_VNNI(kI8I16, "i8b32", "i16b32", kI8B32, kI16B32, kI8Rows16);
CS_GEMM_BASE(kI8I16, "i8b32", "i16b32", kI8B32, kI16B32, kI8Rows16);
CS_GEMM_BF16(kBf16Bf16, "bf16", "bf16", kBF16, kBF16, kBf16Rows16);
CS_GEMM_BASE(kBf16Bf16, "bf16", "bf16", kBF16, kBF16, kBf16Rows16);
CS_GEMM_BASE(kBf16F32, "bf16", "f32", kBF16, kF32, kBf16Rows16);
CS_GEMM_BASE(kF16F32, "f16", "f32", kF16, kF32, kF16Rows16);
CS_GEMM_BASE(kF32F32, "f32", "f32", kF32, kF32, kF32Rows16);

template <const Variant&... kVariants>
std::vector<KernelInfo> infos() {
  return {Entry<kVariants>::info()...};
}

}  // namespace
}  // namespace gemm

std::span<const KernelInfo> gemm_kernels() {
  using namespace gemm;
  static const std::vector<KernelInfo> kKernels =
      infos<kI4I8_avx512vnni, kI4I16_avx512vnni, kI8I8_avx512vnni, kI8I16_avx512vnni, kBf16Bf16_avx512bf16,  //
            kI4I8_avx512, kI4I16_avx512, kI8I8_avx512, kI8I16_avx512, kBf16Bf16_avx512, kBf16F32_avx512, kF16F32_avx512,
            kF32F32_avx512, kI4I8_avx2, kI4I16_avx2, kI8I8_avx2, kI8I16_avx2, kBf16Bf16_avx2, kBf16F32_avx2, kF16F32_avx2,
            kF32F32_avx2,  //
            kI4I8_generic, kI4I16_generic, kI8I8_generic, kI8I16_generic, kBf16Bf16_generic, kBf16F32_generic, kF16F32_generic,
            kF32F32_generic>();
  return kKernels;
}

}  // namespace camshaft::kernels
