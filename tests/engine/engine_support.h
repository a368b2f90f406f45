// What engine tests share: a checkpoint compiled into a temporary engine file and opened in a runner; reference prompts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "models/model.h"
#include "runtime/plan_runner.h"

namespace camshaft::engine_tests {

// Removes the file with the object.
struct TemporaryEngine {
  std::filesystem::path path;
  TemporaryEngine();
  ~TemporaryEngine();
};

Result<std::unique_ptr<runtime::PlanRunner>> compile_and_open(const std::filesystem::path& model,
                                                              const compiler::CompileOptions& options,
                                                              const runtime::RunnerOptions& runner);

struct TopLogit {
  int32_t id;
  double logit;
};
struct ReferencePrompt {
  std::string name;
  std::vector<int32_t> prompt_ids;
  std::vector<int32_t> greedy_ids;       // hf_f32
  std::vector<TopLogit> top5;            // hf_f32, first step
  std::vector<TopLogit> quantised_top5;  // llamacpp_q4_1, first step
};
Result<std::vector<ReferencePrompt>> read_reference(const std::filesystem::path& path);

// Largest |found - expected| over the expected ids; ids that `found` lacks are left out.
double top_error(const std::vector<TopLogit>& found, const std::vector<TopLogit>& expected);
double top_error(const std::vector<float>& logits, const std::vector<TopLogit>& expected);

// Prefills in one go, then decodes one token a step with temperature 0 through submit and wait.
Result<std::vector<int32_t>> run_greedy(runtime::PlanRunner& runner, const std::vector<int32_t>& prompt, size_t steps);

std::filesystem::path default_model();
std::filesystem::path default_reference();

}  // namespace camshaft::engine_tests
