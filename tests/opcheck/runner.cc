// Runs a kernel the way a plan's step does: packed weight, workspace for the largest batch and pool, every worker calls.
#include "runner.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "kernels/layouts.h"

namespace camshaft::opcheck {
namespace {

constexpr uint32_t kUntouched = 0x7fc0dead;  // a NaN nobody computes
constexpr int kMaxWorkers = 4;

const kernels::WeightLayout* layout_for(const Problem& problem, const kernels::KernelInfo& kernel) {
  for (const Input& input : problem.inputs) {
    if (input.kind != Input::Kind::kWeight) continue;
    const kernels::WeightLayout* layout = kernel.weight_layout(problem.spec.desc);
    return layout != nullptr ? layout : kernels::rows_layout(input.weight.format);
  }
  return nullptr;
}

// The part of each sequence that lies within the piece, rows counted from the piece's first.
std::vector<kernels::SequenceSlice> slices_of(const Problem& problem, Piece piece) {
  std::vector<kernels::SequenceSlice> slices;
  int64_t first = 0;
  for (size_t i = 0; i < problem.spec.sequences.size(); ++i) {
    const SequenceSpec& sequence = problem.spec.sequences[i];
    const int64_t begin = std::max(first, piece.begin), end = std::min(first + sequence.rows, piece.end);
    if (begin < end) {
      const int32_t* blocks = i < problem.blocks.size() ? problem.blocks[i].data() : nullptr;
      slices.push_back({static_cast<int32_t>(begin - piece.begin), static_cast<int32_t>(end - begin),
                        static_cast<int32_t>(sequence.start + begin - first), blocks});
    }
    first += sequence.rows;
  }
  return slices;
}

}  // namespace

Runner::Runner(const Problem& problem, const kernels::KernelInfo& kernel, const kernels::Caps& caps)
    : problem_(problem), kernel_(kernel), caps_(caps), layout_(layout_for(problem, kernel)) {
  caps_.kv = problem.kv;
  for (const Input& input : problem.inputs) {
    if (input.kind == Input::Kind::kWeight) weights_.push_back(pack_weight(input.weight, *layout_));
  }
  workspace_.emplace(static_cast<size_t>(kernel.workspace_bytes(problem.spec.desc, caps_, problem.spec.rows, kMaxWorkers)));
  memset(workspace_->data(), 0xff, workspace_->size());
  if (!problem.writes_cache) read_cache_ = problem.cache;
}

Outputs Runner::fresh_outputs() const {
  Outputs outputs;
  for (const int64_t columns : problem_.output_columns) {
    Rows& rows = outputs.rows.emplace_back(Rows{columns, columns + kPadding, {}});
    rows.bits.assign(static_cast<size_t>(problem_.spec.rows * rows.stride), kUntouched);
  }
  if (problem_.writes_cache) outputs.cache = problem_.cache;
  return outputs;
}

void Runner::run_piece(int32_t tactic, base::ThreadPool& pool, Piece piece, Outputs& outputs) {
  std::vector<kernels::TensorArg> in, out;
  for (const Input& input : problem_.inputs) {
    kernels::TensorArg& arg = in.emplace_back();
    if (input.kind == Input::Kind::kRows) {
      Rows& rows = const_cast<Rows&>(input.rows);
      arg = {rows.at(input.whole ? 0 : piece.begin), rows.stride};
    } else if (input.kind == Input::Kind::kWeight) {
      arg.data = weights_[next_weight_++ % weights_.size()].data();
    } else if (input.kind == Input::Kind::kVector) {
      arg.data = const_cast<float*>(input.vector.data());
    }
  }
  for (Rows& rows : outputs.rows) out.push_back({rows.at(piece.begin), rows.stride});
  if (problem_.writes_cache) out.emplace_back();
  const std::vector<kernels::SequenceSlice> slices = slices_of(problem_, piece);
  const kernels::BatchView batch{piece.end - piece.begin, problem_.positions.data() + piece.begin, slices.data(),
                                 static_cast<int64_t>(slices.size()),
                                 problem_.writes_cache ? outputs.cache.data() : read_cache_.data()};
  const kernels::KernelCall call{piece.end - piece.begin, in.data(), out.data(), workspace_->data(), &batch};
  const kernels::RunContext context{&problem_.spec.desc, tactic, &caps_, layout_, problem_.rope_table.data()};
  auto work = [&](int worker) { kernel_.run({worker, pool.num_threads(), &pool, nullptr}, context, call); };
  pool.run(work);
}

Outputs Runner::run(int32_t tactic, base::ThreadPool& pool, const std::vector<Piece>& pieces) {
  Outputs outputs = fresh_outputs();
  for (const Piece& piece : pieces) run_piece(tactic, pool, piece, outputs);
  return outputs;
}

Runner::Timing Runner::time(int32_t tactic, base::ThreadPool& pool, double seconds) {
  constexpr size_t kColdBytes = size_t{32} << 20, kMaxCopies = 64;
  if (!weights_.empty()) {
    const size_t copies = std::clamp<size_t>(kColdBytes / std::max<size_t>(weights_[0].size(), 1), 1, kMaxCopies);
    while (weights_.size() < copies) {
      weights_.emplace_back(weights_[0].size());
      memcpy(weights_.back().data(), weights_[0].data(), weights_[0].size());
    }
  }
  Outputs outputs = fresh_outputs();
  const auto now = [] { return std::chrono::steady_clock::now(); };
  std::vector<double> times;
  const auto end = now() + std::chrono::duration<double>(seconds);
  do {
    const auto start = now();
    run_piece(tactic, pool, {0, problem_.spec.rows}, outputs);
    times.push_back(std::chrono::duration<double>(now() - start).count());
  } while (now() < end || times.size() < 5);
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

}  // namespace camshaft::opcheck
