// Small random checkpoints (tools/make_golden.py) against logits computed in plain Python: file formats, biases, tied and separate
// heads, rope scalings, pair orders.
#include <gtest/gtest.h>

#include <cmath>

#include "base/json.h"
#include "base/mapped_file.h"
#include "oracle.h"

namespace camshaft::golden {
namespace {

struct Expected {
  std::vector<int32_t> prompt_ids, greedy_ids;
  std::vector<std::vector<double>> logits;
};

std::vector<int32_t> ids_of(const Json& list) {
  std::vector<int32_t> out;
  for (const Json& id : list.as_array()) out.push_back(static_cast<int32_t>(*id.int_if()));
  return out;
}

Expected read_expected(const std::filesystem::path& path) {
  const auto text = base::read_text_file(path, 1 << 20);
  EXPECT_TRUE(text.ok()) << text.status().message();
  const auto json = base::parse_json(*text);
  EXPECT_TRUE(json.ok()) << json.status().message();
  Expected out{ids_of(*json->find("prompt_ids")), ids_of(*json->find("greedy_ids")), {}};
  for (const Json& row : json->find("logits")->as_array()) {
    out.logits.emplace_back();
    for (const Json& value : row.as_array()) out.logits.back().push_back(value.as_double());
  }
  return out;
}

class Tiny : public testing::TestWithParam<const char*> {
 protected:
  std::filesystem::path folder() const { return golden_folder() / "tiny" / GetParam(); }
  Oracle open(const interp::InterpOptions& options) const {
    const auto gguf = folder() / "model.gguf";
    auto oracle = open_oracle(std::filesystem::exists(gguf) ? gguf : folder(), options);
    EXPECT_TRUE(oracle.ok()) << oracle.status().message();
    return std::move(*oracle);
  }
};

// Largest difference over all rows of the prompt, fed in pieces of `chunk` tokens.
double prompt_error(interp::Interpreter& interpreter, const Expected& expected, size_t chunk) {
  double worst = 0;
  interpreter.reset();
  for (size_t begin = 0; begin < expected.prompt_ids.size(); begin += chunk) {
    const auto tokens = std::span(expected.prompt_ids).subspan(begin).first(std::min(chunk, expected.prompt_ids.size() - begin));
    std::vector<int32_t> rows(tokens.size());
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
    const auto logits = interpreter.run(tokens, rows);
    EXPECT_TRUE(logits.ok()) << logits.status().message();
    const size_t vocab = logits->size() / rows.size();
    for (size_t i = 0; i < logits->size(); ++i) {
      worst = std::max(worst, std::abs((*logits)[i] - expected.logits[begin + i / vocab][i % vocab]));
    }
  }
  return worst;
}

TEST_P(Tiny, LogitsOfEveryRowWhateverTheChunks) {
  const Expected expected = read_expected(folder() / "expected.json");
  Oracle oracle = open({.max_tokens = 32});
  for (const size_t chunk : {12u, 5u, 1u})
    EXPECT_LT(prompt_error(*oracle.interpreter, expected, chunk), 2e-5) << "chunks of " << chunk;
}

// The same through the kernels that an engine on this machine would take.
TEST_P(Tiny, LogitsWithTheBestKernels) {
  const Expected expected = read_expected(folder() / "expected.json");
  Oracle oracle = open({.kernels = interp::InterpOptions::Kernels::kBest, .isa = kernels::detect_isa(), .max_tokens = 32});
  for (const size_t chunk : {12u, 5u}) EXPECT_LT(prompt_error(*oracle.interpreter, expected, chunk), 1e-4) << "chunks of " << chunk;
}

TEST_P(Tiny, GreedyIds) {
  const Expected expected = read_expected(folder() / "expected.json");
  Oracle oracle = open({.max_tokens = 32, .num_threads = 2});
  const auto greedy = run_greedy(*oracle.interpreter, expected.prompt_ids, expected.greedy_ids.size());
  ASSERT_TRUE(greedy.ok()) << greedy.status().message();
  EXPECT_EQ(greedy->ids, expected.greedy_ids);
}

// A cache in half precision moves logits by about the half's own rounding (2^-11 of a key or value), whatever their size.
TEST_P(Tiny, HalfPrecisionCache) {
  const Expected expected = read_expected(folder() / "expected.json");
  Oracle oracle = open({.kv_format = tensor::Format::kF16, .max_tokens = 32});
  const auto last = static_cast<int32_t>(expected.prompt_ids.size()) - 1;
  const auto logits = oracle.interpreter->run(expected.prompt_ids, {&last, 1});
  ASSERT_TRUE(logits.ok()) << logits.status().message();
  const std::vector<float> exact(expected.logits.back().begin(), expected.logits.back().end());
  const double error = tensor::measure_error(*logits, exact).relative_l2;
  RecordProperty("relative_l2", std::to_string(error));
  EXPECT_GT(error, 1e-6);  // the option had its effect
  EXPECT_LT(error, 4.0 / 2048);
}

TEST_P(Tiny, GraphTextReadsBack) {
  Oracle oracle = open({.max_tokens = 32});
  const std::string text = graph::print(*oracle.graph);
  const auto read = graph::parse(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(graph::print(*read), text);
}

INSTANTIATE_TEST_SUITE_P(Golden, Tiny, testing::Values("llama_linear", "llama_llama3_bias", "qwen2_yarn", "gguf_llama3"),
                         [](const auto& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace camshaft::golden
