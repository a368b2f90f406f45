// An engine file (or a checkpoint, built into the cache) to a running model: engine, runner, executor, text. The place that
// composes.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "base/options.h"
#include "cli/build_engine.h"
#include "engine/engine.h"
#include "generation/generation.h"
#include "runtime/plan_runner.h"

namespace camshaft::cli {

// How a model is run. `build` serves when the model is a checkpoint.
struct ModelOptions {
  std::string weights;
  int64_t max_seqs = 0;
  int64_t max_seq_len = 0;
  int64_t prefill_chunk = 0;
  uint64_t kv_memory = 0;
  int64_t threads = 0;
  double step_timeout_s = 30;  // the server's option
  std::string cache;
  BuildOptions build;
  std::set<std::string> given;  // names of the options that were said: one of `build` is refused where the model is an engine
};
// `max_seqs_default`: what the command expects, "1" or "32".
std::vector<base::Option> model_option_table(ModelOptions& options, std::string max_seqs_default);

Result<std::shared_ptr<const engine::Engine>> open_engine(const std::string& model, const ModelOptions& options);
Result<std::unique_ptr<runtime::PlanRunner>> open_runner(std::shared_ptr<const engine::Engine> engine, const ModelOptions& options);

// Everything that runs one model. `name`: the id clients use, "" for what the checkpoint's name gives, else the file's stem.
struct RunningModel {
  std::shared_ptr<const engine::Engine> engine;
  generation::ModelEntry entry;
};
Result<std::unique_ptr<RunningModel>> open_model(const std::string& model, const ModelOptions& options, const std::string& name,
                                                 base::MetricsRegistry& metrics);

}  // namespace camshaft::cli
