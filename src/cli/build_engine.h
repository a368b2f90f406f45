// Checkpoint files to an engine file: the build road from end to end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/status.h"
#include "compiler/compiler.h"
#include "models/model.h"

namespace camshaft::cli {

// What a build may be told; the same table serves build, and run, serve and bench where they build into the cache.
struct BuildOptions {
  std::string precision;
  std::string isa;
  std::string kv;
  std::string passes;
  std::string stop_after;
  int64_t max_rows = 0;
  int64_t max_seqs = 0;
  int64_t threads = 0;
};
std::vector<base::Option> build_option_table(BuildOptions& options);

// "auto" values resolved against this machine and the precision.
Result<compiler::CompileOptions> resolve_build(const BuildOptions& options);
// One line that decides the build's outcome: part of the fingerprint and of the cache's key.
std::string canonical_text(const compiler::CompileOptions& options);

struct BuildSummary {
  compiler::CompileResult result;
  models::ModelConfig config;
  int64_t nodes_before = 0;
  double seconds = 0;
};

struct LoadedGraph {
  std::unique_ptr<checkpoint::Checkpoint> checkpoint;
  models::ModelConfig config;
  graph::Graph graph;
};
Result<LoadedGraph> load_graph(const std::filesystem::path& model);

Result<BuildSummary> build_engine(const std::filesystem::path& model, const compiler::CompileOptions& options,
                                  const std::filesystem::path& output, int threads, const compiler::Progress& progress);

// A bar on a terminal, a line a phase elsewhere; to stderr.
compiler::Progress progress_bar();
int default_threads();

}  // namespace camshaft::cli
