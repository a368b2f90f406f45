// Entries of rope, kv_write and rope_kv_write. Work is shared out by (row, head), so that one decoded token has enough pieces.
#include <algorithm>

#include "kernels/cpu/isa_entry.h"
#include "kernels/cpu/other_ops.h"

namespace camshaft::kernels {

#include "kernels/cpu/rope/rope_args.inl.h"

namespace {

constexpr int64_t kBlock = ops::KvLayout::kBlockTokens;
constexpr int64_t kMaxHeadDim = 512;  // a turned key lies on the stack

TurnArgs turn_args(const ops::RopeParams& rope, const float* table, int64_t position, const float* x, float* y) {
  const float* cosines = table + position * rope.rotary_dim;
  const int64_t pairs = rope.rotary_dim / 2;
  return {x, y, cosines, cosines + pairs, pairs, rope.head_dim, rope.pairs == ops::RopeParams::Pairs::kInterleaved};
}

WriteArgs write_args(const RunContext& context, const ops::KvShape& shape, const BatchView& batch, const SequenceSlice& sequence,
                     int64_t position, int64_t kv_head, const float* key, const float* value) {
  const ops::KvLayout& kv = context.caps->kv;
  std::byte* block = batch.kv_base + sequence.blocks[position / kBlock] * kv.block_bytes();
  const int64_t slot = position % kBlock, size = kv.element_bytes();
  return {key,
          value,
          block + kv.key_offset(shape.layer, kv_head) + slot * size,
          block + kv.value_offset(shape.layer, kv_head) + slot * shape.head_dim * size,
          shape.head_dim,
          kv.format == tensor::Format::kF16};
}

// Walks over (row, head) pairs in row order, knowing each row's sequence.
template <typename Function>
void for_each_head(const device::Launch& launch, const KernelCall& call, int64_t heads, Function function) {
  const auto [begin, end] = share_of(launch, call.rows * heads);
  const SequenceSlice* sequence = call.batch->sequences;
  for (int64_t item = begin; item < end; ++item) {
    const int64_t row = item / heads;
    while (row >= sequence->first_row + sequence->num_rows) ++sequence;
    function(row, item % heads, *sequence);
  }
}

template <const RopeFunctions& kFunctions>
void run_rope(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::RopeDesc>(context);
  for_each_head(launch, call, desc.heads, [&](int64_t row, int64_t head, const SequenceSlice&) {
    const int64_t at = head * desc.rope.head_dim;
    kFunctions.turn(turn_args(desc.rope, context.rope_table, call.batch->positions[row], row_of(call.in[0], row) + at,
                              row_of(call.out[0], row) + at));
  });
}

template <const RopeFunctions& kFunctions>
void run_kv_write(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const ops::KvShape& kv = desc_of<ops::KvWriteDesc>(context).kv;
  for_each_head(launch, call, kv.kv_heads, [&](int64_t row, int64_t head, const SequenceSlice& sequence) {
    const int64_t at = head * kv.head_dim;
    kFunctions.write(write_args(context, kv, *call.batch, sequence, call.batch->positions[row], head, row_of(call.in[0], row) + at,
                                row_of(call.in[1], row) + at));
  });
}

// Heads 0 to heads - 1 are queries, behind them the KV heads.
template <const RopeFunctions& kFunctions>
void run_rope_kv_write(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::RopeKvWriteDesc>(context);
  const ops::KvShape& kv = desc.kv;
  for_each_head(launch, call, desc.heads + kv.kv_heads, [&](int64_t row, int64_t head, const SequenceSlice& sequence) {
    const int64_t position = call.batch->positions[row];
    const float* x = row_of(call.in[0], row) + head * kv.head_dim;
    if (head < desc.heads) {
      kFunctions.turn(turn_args(desc.rope, context.rope_table, position, x, row_of(call.out[0], row) + head * kv.head_dim));
      return;
    }
    float key[kMaxHeadDim];
    kFunctions.turn(turn_args(desc.rope, context.rope_table, position, x, key));
    const float* value = x + kv.kv_heads * kv.head_dim;
    kFunctions.write(write_args(context, kv, *call.batch, sequence, position, head - desc.heads, key, value));
  });
}

Support supports_layout(const Caps& caps) {
  if (caps.kv.key_order != ops::KvLayout::KeyOrder::kDimMajor) return Support::no("writes keys in dim-major order only");
  return Support::ok();
}

template <Isa kIsa>
Support kv_write_supports(const ops::OpDesc& desc, const Caps& caps) {
  const Support isa = needs_isa<kIsa>(desc, caps);
  return isa.yes ? supports_layout(caps) : isa;
}

template <Isa kIsa>
Support rope_kv_write_supports(const ops::OpDesc& desc, const Caps& caps) {
  const int64_t head_dim = std::get<ops::RopeKvWriteDesc>(desc).kv.head_dim;
  if (head_dim > kMaxHeadDim) return Support::no(format("head_dim {} is above {}", head_dim, kMaxHeadDim));
  return kv_write_supports<kIsa>(desc, caps);
}

template <const RopeFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo rope_entry(std::string_view name) {
  return {name, ops::OpKind::kRope, needs_isa<kIsa>, one_tactic, no_workspace, no_layout, run_rope<kFunctions>};
}
template <const RopeFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo kv_write_entry(std::string_view name) {
  return {name, ops::OpKind::kKvWrite, kv_write_supports<kIsa>, one_tactic, no_workspace, no_layout, run_kv_write<kFunctions>};
}
template <const RopeFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo rope_kv_write_entry(std::string_view name) {
  return {name,      ops::OpKind::kRopeKvWrite,    rope_kv_write_supports<kIsa>, one_tactic, no_workspace,
          no_layout, run_rope_kv_write<kFunctions>};
}

constexpr KernelInfo kKernels[] = {
    rope_entry<kRopeAvx512, Isa::kAvx512>("rope_f32_avx512"),
    rope_entry<kRopeAvx2, Isa::kAvx2>("rope_f32_avx2"),
    rope_entry<kRopeGeneric, Isa::kGeneric>("rope_f32_generic"),
    kv_write_entry<kRopeAvx512, Isa::kAvx512>("kv_write_avx512"),
    kv_write_entry<kRopeAvx2, Isa::kAvx2>("kv_write_avx2"),
    kv_write_entry<kRopeGeneric, Isa::kGeneric>("kv_write_generic"),
    rope_kv_write_entry<kRopeAvx512, Isa::kAvx512>("rope_kv_write_avx512"),
    rope_kv_write_entry<kRopeAvx2, Isa::kAvx2>("rope_kv_write_avx2"),
    rope_kv_write_entry<kRopeGeneric, Isa::kGeneric>("rope_kv_write_generic"),
};

}  // namespace

std::span<const KernelInfo> rope_kernels() { return kKernels; }

}  // namespace camshaft::kernels
