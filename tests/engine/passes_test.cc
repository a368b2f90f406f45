// Passes change how a model is computed, never what: the interpreter before and after all of them agrees, and engines built with
// any pass switched off give the same logits. Over the tiny checkpoints: biases, tied and separate heads, GGUF and safetensors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "checkpoint/checkpoint.h"
#include "engine_support.h"
#include "interp/interpreter.h"

namespace camshaft::engine_tests {
namespace {

const std::vector<int32_t> kPrompt = {1, 7, 19, 3, 42, 0, 47, 5, 5, 30, 11, 2, 8};

class TinyModel : public testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path path() const {
    const auto folder = std::filesystem::path(CAMSHAFT_SOURCE_DIR) / "tests" / "golden" / "tiny" / GetParam();
    return std::filesystem::exists(folder / "model.gguf") ? folder / "model.gguf" : folder;
  }
  static std::vector<int32_t> all_rows() {
    std::vector<int32_t> rows(kPrompt.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
    return rows;
  }
  std::vector<float> interpreted(const graph::Graph& graph) const {
    auto interpreter = interp::Interpreter::make(graph, {.max_tokens = 32});
    EXPECT_TRUE(interpreter.ok()) << interpreter.status().message();
    const auto logits = interpreter->run(kPrompt, all_rows());
    EXPECT_TRUE(logits.ok()) << logits.status().message();
    return *logits;
  }
  Result<std::vector<float>> compiled(const compiler::CompileOptions& options) const {
    CS_ASSIGN_OR_RETURN(const auto runner,
                        compile_and_open(path(), options, {.max_seqs = 1, .prefill_chunk = 32, .num_threads = 2}));
    return runner->logits(kPrompt, all_rows());
  }
};

double largest(const std::vector<float>& values) {
  double out = 0;
  for (const float value : values) out = std::max(out, std::abs(double{value}));
  return out;
}

// Largest difference relative to the largest logit.
double relative_error(const std::vector<float>& found, const std::vector<float>& expected) {
  EXPECT_EQ(found.size(), expected.size());
  double worst = 0;
  for (size_t i = 0; i < expected.size(); ++i) worst = std::max(worst, std::abs(double{found[i]} - double{expected[i]}));
  return worst / largest(expected);
}

compiler::CompileOptions exact() {
  compiler::CompileOptions options;
  options.precision = compiler::Precision::kF32;
  options.isa = kernels::detect_isa();
  options.kv_format = tensor::Format::kF32;
  options.max_batch_tokens = 64;
  options.max_logit_rows = 16;
  options.max_workers = 4;
  return options;
}

TEST_P(TinyModel, TheInterpreterAgreesAfterEveryPass) {
  const auto checkpoint = checkpoint::open_checkpoint(path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
  const models::ModelFamily* family = models::find_family(**checkpoint).value();
  const auto config = family->config(**checkpoint);
  const auto before = family->build(*config, **checkpoint);
  ASSERT_TRUE(before.ok()) << before.status().message();
  const std::vector<float> expected = interpreted(*before);
  for (const compiler::Pass& pass : compiler::passes()) {
    SCOPED_TRACE(pass.name);
    auto graph = family->build(*config, **checkpoint);
    compiler::CompileOptions options = exact();
    options.stop_after = pass.name;
    const auto reports = compiler::run_passes(*graph, options);
    ASSERT_TRUE(reports.ok()) << reports.status().message();
    EXPECT_LT(relative_error(interpreted(*graph), expected), 1e-5);
  }
}

TEST_P(TinyModel, AnyPassMayBeOff) {
  const auto expected = compiled(exact());
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  std::vector<std::vector<std::string>> settings;
  std::vector<std::string> all;
  for (const compiler::Pass& pass : compiler::passes()) {
    compiler::CompileOptions options = exact();
    options.disabled_passes = {std::string(pass.name)};
    const bool needed = pass.name == "fold_constants" || pass.name == "quantise";
    if (needed) {
      EXPECT_EQ(compiled(options).status().code(), Code::kInvalidArgument);
      continue;
    }
    settings.push_back(options.disabled_passes);
    all.push_back(std::string(pass.name));
  }
  settings.push_back(all);
  for (const auto& disabled : settings) {
    compiler::CompileOptions options = exact();
    options.disabled_passes = disabled;
    const auto found = compiled(options);
    ASSERT_TRUE(found.ok()) << disabled.front() << ": " << found.status().message();
    EXPECT_LT(relative_error(*found, *expected), 1e-4) << disabled.front();
  }
}

// Under each precision the engine computes what the interpreter computes with the reference kernels on the same graph, whatever
// the class. Where sums differ in their last bits an activation may round the other way: a step of 8 bits is 4e-3 of its block's
// largest, one of 16 bits (keep) 2e-5.
TEST_P(TinyModel, EnginesOfEveryPrecisionAgreeWithTheInterpreter) {
  using compiler::Precision;
  for (const Precision precision : {Precision::kKeep, Precision::kF32, Precision::kBf16, Precision::kInt8, Precision::kInt4}) {
    compiler::CompileOptions options = exact();
    options.precision = precision;
    const auto checkpoint = checkpoint::open_checkpoint(path());
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message();
    const models::ModelFamily* family = models::find_family(**checkpoint).value();
    auto graph = family->build(*family->config(**checkpoint), **checkpoint);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    ASSERT_TRUE(compiler::run_passes(*graph, options).ok());
    const std::vector<float> expected = interpreted(*graph);
    for (const kernels::Isa isa : {kernels::Isa::kGeneric, kernels::detect_isa()}) {
      options.isa = isa;
      const auto found = compiled(options);
      ASSERT_TRUE(found.ok()) << compiler::precision_name(precision) << ": " << found.status().message();
      const double bar = precision == Precision::kF32 ? 1e-5 : precision == Precision::kKeep ? 1e-4 : 1e-2;
      EXPECT_LT(relative_error(*found, expected), bar) << compiler::precision_name(precision) << " " << kernels::isa_name(isa);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Passes, TinyModel, testing::Values("llama_linear", "llama_llama3_bias", "qwen2_yarn", "gguf_llama3"),
                         [](const auto& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace camshaft::engine_tests
