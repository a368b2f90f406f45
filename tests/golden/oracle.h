// What golden tests share: a checkpoint opened, built and interpreted; reference prompts; comparisons.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "checkpoint/checkpoint.h"
#include "interp/interpreter.h"
#include "models/model.h"

namespace camshaft::golden {

// A model ready to run. Pieces stand in order of who outlives whom.
struct Oracle {
  std::unique_ptr<checkpoint::Checkpoint> checkpoint;
  models::ModelConfig config;
  std::unique_ptr<graph::Graph> graph;
  std::unique_ptr<interp::Interpreter> interpreter;
};
Result<Oracle> open_oracle(const std::filesystem::path& model, const interp::InterpOptions& options);

// Feeds `prompt` and takes the largest logit `steps` times. The first step's logits come along.
struct Greedy {
  std::vector<float> first_logits;
  std::vector<int32_t> ids;
};
Result<Greedy> run_greedy(interp::Interpreter& interpreter, const std::vector<int32_t>& prompt, size_t steps);

// One prompt of a reference file: what hf_f32 answered.
struct ReferencePrompt {
  std::string name;
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> greedy_ids;
  std::vector<std::pair<int32_t, double>> first_top5;
};
Result<std::vector<ReferencePrompt>> read_reference(const std::filesystem::path& path);
// Largest |logit - reference| over the first step's five largest.
double top5_error(const std::vector<float>& logits, const ReferencePrompt& prompt);

// Where the repository's tests find data that is not in it.
std::filesystem::path default_model();
std::filesystem::path default_reference();
std::filesystem::path golden_folder();

}  // namespace camshaft::golden
