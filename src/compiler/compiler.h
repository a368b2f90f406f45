// Compiler: graph > fuse > quantise > lower (memory plan, tactics) > Plan + packed constants. Door of the build road's second half.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"
#include "engine/engine.h"
#include "graph/graph.h"
#include "kernels/isa.h"

namespace camshaft::compiler {

enum class Precision : uint8_t { kKeep, kF32, kBf16, kInt8, kInt4 };
std::string_view precision_name(Precision precision);
Result<Precision> parse_precision(std::string_view name);

struct CompileOptions {
  Precision precision = Precision::kKeep;
  kernels::Isa isa = kernels::Isa::kGeneric;
  tensor::Format kv_format = tensor::Format::kF16;  // --kv; f32 with precision f32
  int64_t max_batch_tokens = 1024;                  // rows a step: the largest prefill chunk plus one row a sequence
  int64_t max_logit_rows = 256;                     // sequences a step
  int max_workers = 64;                             // upper bound of run-time threads
  std::vector<std::string> disabled_passes;         // --passes=-NAME,...
  std::string stop_after;                           // pass name; empty: all
};

// One entry of the ordered list in pipeline.cc.
struct Pass {
  std::string_view name;  // "merge_qkv"
  std::string_view help;  // one sentence
  // Changes the graph; returns how many places it changed.
  Result<int64_t> (*run)(graph::Graph& graph, const CompileOptions& options);
};
const std::vector<Pass>& passes();

struct PassReport {
  std::string name;
  bool enabled = true;
  int64_t changes = 0;
  int64_t nodes_after = 0;
  double seconds = 0;
};

// Runs the passes (verifying after each when asked), up to options.stop_after. Unknown names in disabled_passes or stop_after are
// invalid_argument with the list of names.
Result<std::vector<PassReport>> run_passes(graph::Graph& graph, const CompileOptions& options);

// Called with a phase's name and its part done (0..1); from the calling thread.
using Progress = std::function<void(std::string_view phase, double done)>;

// Lowers an optimised graph: kernels and tactics by list order and cost model, operands by lifetime.
Result<engine::Plan> lower(const graph::Graph& graph, const std::vector<PassReport>& reports, const CompileOptions& options);

// Packs one constant into `out` (exactly entry.bytes), group by group in parallel; rows of another format are converted.
Status pack_constant(const graph::Constant& constant, const engine::ConstantEntry& entry, std::span<std::byte> out,
                     base::ThreadPool& pool);

// Everything after the graph: passes, plan, engine file. `meta` brings fingerprint (target and options are filled in here), model
// info, tokenizer and prompt. `release` is called for each constant after it was packed, so that file pages can go.
struct CompileResult {
  engine::EngineMeta meta;
  std::vector<PassReport> passes;
  uint64_t file_bytes = 0;
};
using ReleaseConstant = std::function<void(const graph::Constant& constant)>;
Result<CompileResult> compile(graph::Graph graph, engine::EngineMeta meta, const CompileOptions& options,
                              const std::filesystem::path& output, base::ThreadPool& pool, const Progress& progress,
                              const ReleaseConstant& release);

}  // namespace camshaft::compiler
