// Entries of attention over the paged cache, and how its work is shared out. Workers get equal shares of (query vectors x keys),
// cut between query vectors: with three KV heads and two workers the middle head's queries are divided. A few rows with long
// contexts (decode) are also divided by splits of 256 keys, whose records are merged in ascending order behind a barrier.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/cpu/isa_entry.h"
#include "kernels/cpu/other_ops.h"

namespace camshaft::kernels {

#include "kernels/cpu/attention/attention_args.inl.h"

namespace {

static_assert(kSplitKeys == ops::kAttentionSplit && kBlockKeys == ops::KvLayout::kBlockTokens);

constexpr int64_t kTileVectors = 96;  // 32 rows of 3 heads: converting a block costs 2 % of using it
constexpr int64_t kMaxGroup = 128;    // heads a KV head
constexpr int64_t kMaxHeadDim = 256;
constexpr int64_t kSplitRows = 8;      // batches up to this size are divided by splits too
constexpr int64_t kSplitsAtOnce = 32;  // records kept a query vector between two barriers

int64_t tile_rows(int64_t group) { return std::max<int64_t>(kTileVectors / group, 1); }
int64_t record_floats(int64_t head_dim) { return kRecordHead + head_dim; }

int64_t scratch_of_worker(const ops::AttentionDesc& desc) {
  const int64_t group = desc.heads / desc.kv.kv_heads;
  return scratch_floats(tile_rows(group) * group, desc.kv.head_dim);
}

// Scratch of each worker, then the records of divided rows: kSplitsAtOnce and the merged one a query vector.
int64_t attention_workspace(const ops::OpDesc& any, const Caps&, int64_t max_rows, int max_workers) {
  const auto& desc = std::get<ops::AttentionDesc>(any);
  const int64_t records = std::min(max_rows, kSplitRows) * desc.heads * (kSplitsAtOnce + 1);
  return (max_workers * scratch_of_worker(desc) + records * record_floats(desc.kv.head_dim)) * int64_t{sizeof(float)};
}

// One call's constants.
struct Work {
  const ops::AttentionDesc& desc;
  const ops::KvLayout& kv;
  const device::Launch& launch;
  const KernelCall& call;
  int64_t group;

  float* scratch() const { return reinterpret_cast<float*>(call.workspace) + launch.worker * scratch_of_worker(desc); }
  // Record `index` of the query vector (row, head).
  float* record(int64_t row, int64_t head, int64_t index) const {
    float* records = reinterpret_cast<float*>(call.workspace) + launch.num_workers * scratch_of_worker(desc);
    return records + ((row * desc.heads + head) * (kSplitsAtOnce + 1) + index) * record_floats(desc.kv.head_dim);
  }
};

AttentionTile make_tile(const Work& work, const SequenceSlice& sequence, int64_t kv_head, int64_t first_row) {
  const auto& desc = work.desc;
  const int64_t row = sequence.first_row + first_row, column = kv_head * work.group * desc.kv.head_dim;
  AttentionTile tile;
  tile.q = row_of(work.call.in[0], row) + column;
  tile.q_stride = work.call.in[0].stride;
  tile.y = row_of(work.call.out[0], row) + column;
  tile.y_stride = work.call.out[0].stride;
  tile.group = work.group;
  tile.first_position = sequence.start_position + first_row;
  tile.begin = tile.end = 0;
  tile.head_dim = desc.kv.head_dim;
  tile.scale = desc.scale * std::numbers::log2e_v<float>;
  tile.keys = work.call.batch->kv_base + work.kv.key_offset(desc.kv.layer, kv_head);
  tile.values = work.call.batch->kv_base + work.kv.value_offset(desc.kv.layer, kv_head);
  tile.block_bytes = work.kv.block_bytes();
  tile.blocks = sequence.blocks;
  tile.half = work.kv.format == tensor::Format::kF16;
  tile.scratch = work.scratch();
  return tile;
}

// An item of work: `vectors` query vectors that look at about `keys` keys each.
struct Item {
  const SequenceSlice* sequence;
  int64_t kv_head;
  int64_t first_row;
  int64_t vectors;
  int64_t keys;
  int64_t split;  // divided rows only
};

// Calls function(item) for every tile of the batch.
template <typename Function>
void for_each_tile(const Work& work, Function function) {
  const BatchView& batch = *work.call.batch;
  const int64_t step = tile_rows(work.group);
  for (int64_t s = 0; s < batch.num_sequences; ++s) {
    const SequenceSlice& sequence = batch.sequences[s];
    for (int64_t kv_head = 0; kv_head < work.desc.kv.kv_heads; ++kv_head) {
      for (int64_t row = 0; row < sequence.num_rows; row += step) {
        const int64_t rows = std::min<int64_t>(step, sequence.num_rows - row);
        function(Item{&sequence, kv_head, row, rows * work.group, sequence.start_position + row + (rows + 1) / 2, 0});
      }
    }
  }
}

// Calls function(item) for every row, KV head and split of [first_split, first_split + kSplitsAtOnce).
template <typename Function>
void for_each_split(const Work& work, int64_t first_split, Function function) {
  const BatchView& batch = *work.call.batch;
  for (int64_t s = 0; s < batch.num_sequences; ++s) {
    const SequenceSlice& sequence = batch.sequences[s];
    for (int64_t row = 0; row < sequence.num_rows; ++row) {
      const int64_t keys = sequence.start_position + row + 1;
      const int64_t end = std::min((keys + kSplitKeys - 1) / kSplitKeys, first_split + kSplitsAtOnce);
      for (int64_t kv_head = 0; kv_head < work.desc.kv.kv_heads; ++kv_head) {
        for (int64_t split = first_split; split < end; ++split) {
          function(Item{&sequence, kv_head, row, work.group, std::min(keys - split * kSplitKeys, kSplitKeys), split});
        }
      }
    }
  }
}

// The worker's share of items: function(item, begin, end) with the vectors it has to do. `each` enumerates the items.
template <typename Each, typename Function>
void share_items(const Work& work, Each each, Function function) {
  int64_t total = 0;
  each([&](const Item& item) { total += item.vectors * item.keys; });
  const int64_t workers = work.launch.num_workers, worker = work.launch.worker;
  const int64_t low = total * worker / workers, high = total * (worker + 1) / workers;
  int64_t cost = 0;
  each([&](const Item& item) {
    const auto cut = [&](int64_t border) {
      return std::clamp<int64_t>((border - cost + item.keys - 1) / item.keys, 0, item.vectors);
    };
    const int64_t begin = low <= cost ? 0 : cut(low), end = cut(high);
    if (begin < end) function(item, begin, end);
    cost += item.vectors * item.keys;
  });
}

template <const AttentionFunctions& kFunctions>
void run_tiles(const Work& work) {
  share_items(
      work, [&](auto function) { for_each_tile(work, function); },
      [&](const Item& item, int64_t begin, int64_t end) {
        AttentionTile tile = make_tile(work, *item.sequence, item.kv_head, item.first_row);
        tile.begin = begin;
        tile.end = end;
        kFunctions.run_tile(tile);
      });
}

// Merges the records that one round of splits has left for each (row, head); finishes where it was the last round.
template <const AttentionFunctions& kFunctions>
void merge_round(const Work& work, int64_t first_split) {
  const auto [begin, end] = share_of(work.launch, work.call.rows * work.desc.heads);
  for (int64_t item = begin; item < end; ++item) {
    const int64_t row = item / work.desc.heads, head = item % work.desc.heads, head_dim = work.desc.kv.head_dim;
    const int64_t splits = work.call.batch->positions[row] / kSplitKeys + 1;
    if (first_split >= splits) continue;
    float* merged = work.record(row, head, kSplitsAtOnce);
    int64_t split = first_split;
    if (split == 0) std::copy_n(work.record(row, head, split++), record_floats(head_dim), merged);
    for (; split < std::min(splits, first_split + kSplitsAtOnce); ++split) {
      kFunctions.merge(merged, work.record(row, head, split - first_split), head_dim);
    }
    if (split == splits) kFunctions.finish(merged, head_dim, row_of(work.call.out[0], row) + head * head_dim);
  }
}

template <const AttentionFunctions& kFunctions>
void run_divided(const Work& work, int64_t longest) {
  for (int64_t first_split = 0; first_split * kSplitKeys < longest; first_split += kSplitsAtOnce) {
    if (first_split > 0) work.launch.barrier();  // the records are about to be overwritten
    share_items(
        work, [&](auto function) { for_each_split(work, first_split, function); },
        [&](const Item& item, int64_t begin, int64_t end) {
          AttentionTile tile = make_tile(work, *item.sequence, item.kv_head, item.first_row);
          tile.begin = begin;
          tile.end = end;
          const int64_t row = item.sequence->first_row + item.first_row;
          float* records = work.record(row, item.kv_head * work.group + begin, item.split - first_split);
          kFunctions.run_split(tile, item.split, records, (kSplitsAtOnce + 1) * record_floats(tile.head_dim));
        });
    work.launch.barrier();
    merge_round<kFunctions>(work, first_split);
  }
}

template <const AttentionFunctions& kFunctions>
void run_attention(const device::Launch& launch, const RunContext& context, const KernelCall& call) {
  const auto& desc = desc_of<ops::AttentionDesc>(context);
  const Work work{desc, context.caps->kv, launch, call, desc.heads / desc.kv.kv_heads};
  int64_t longest = 0;
  for (int64_t s = 0; s < call.batch->num_sequences; ++s) {
    const SequenceSlice& sequence = call.batch->sequences[s];
    longest = std::max<int64_t>(longest, sequence.start_position + sequence.num_rows);
  }
  if (launch.num_workers > 1 && call.rows <= kSplitRows && longest > kSplitKeys) {
    run_divided<kFunctions>(work, longest);
  } else {
    run_tiles<kFunctions>(work);
  }
}

Support shape_supported(const ops::AttentionDesc& desc, const Caps& caps) {
  const int64_t head_dim = desc.kv.head_dim, group = desc.heads / desc.kv.kv_heads;
  if (caps.kv.key_order != ops::KvLayout::KeyOrder::kDimMajor) return Support::no("reads keys in dim-major order only");
  if (head_dim % 16 != 0 || head_dim > kMaxHeadDim) {
    return Support::no(format("head_dim {} is no multiple of 16 up to {}", head_dim, kMaxHeadDim));
  }
  if (group > kMaxGroup) return Support::no(format("{} heads share a KV head, at most {} can", group, kMaxGroup));
  return Support::ok();
}

template <Isa kIsa>
Support attention_supports(const ops::OpDesc& desc, const Caps& caps) {
  const Support isa = needs_isa<kIsa>(desc, caps);
  return isa.yes ? shape_supported(std::get<ops::AttentionDesc>(desc), caps) : isa;
}

template <const AttentionFunctions& kFunctions, Isa kIsa>
constexpr KernelInfo entry(std::string_view name) {
  return {name,      ops::OpKind::kAttention,  attention_supports<kIsa>, one_tactic, attention_workspace,
          no_layout, run_attention<kFunctions>};
}

constexpr KernelInfo kKernels[] = {
    entry<kAttentionAvx512, Isa::kAvx512>("paged_attention_avx512"),
    entry<kAttentionAvx2, Isa::kAvx2>("paged_attention_avx2"),
    entry<kAttentionGeneric, Isa::kGeneric>("paged_attention_generic"),
};

}  // namespace

std::span<const KernelInfo> attention_kernels() { return kKernels; }

}  // namespace camshaft::kernels
