// For tests of engine, runtime and the engine fuzzer: a small decoder's plan over the reference kernels, written by hand, and an
// EngineMeta with every field set to something other than its default.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>

#include "base/format.h"
#include "engine/engine.h"

namespace camshaft::engine {

// Vocabulary 32, hidden 16, two heads of 8 over one cache head, one layer; at most 32 rows and 4 logit rows a step.
struct TestPlan {
  static constexpr int64_t kVocab = 32, kHidden = 16, kHeads = 2, kHeadDim = 8, kRows = 32, kLogitRows = 4, kMerged = 32;

  static Plan make() {
    Plan plan;
    plan.buckets = {{4}, {kRows}};
    plan.max_batch_tokens = kRows;
    plan.max_logit_rows = kLogitRows;
    plan.max_workers = 4;
    plan.vocab = kVocab;
    plan.context_length = 64;
    plan.kv.format = tensor::Format::kF32;
    plan.kv.layers = 1;
    plan.kv.kv_heads = 1;
    plan.kv.head_dim = kHeadDim;
    plan.rope.head_dim = plan.rope.rotary_dim = kHeadDim;
    plan.rope.theta = 100;
    plan.passes = {{"merge_qkv", true, 3, 12}, {"fuse_swiglu", false, 0, 12}};
    plan.constants = {matrix("table", kVocab, kHidden), matrix("norm", 1, kHidden), matrix("qkv", kMerged, kHidden),
                      matrix("qkv.bias", 1, kMerged)};
    add_steps(plan);
    return plan;
  }

 private:
  static ConstantEntry matrix(std::string name, int64_t n, int64_t k) {
    return {std::move(name), "rows_f32", tensor::Format::kF32, n, k, 0, static_cast<uint64_t>(n * k * 4)};
  }
  static Operand constant(int32_t index) { return {Operand::Place::kConstant, 0, 0, index}; }
  static Operand place(Operand::Place where) { return {where}; }

  static void add_steps(Plan& plan) {
    using Place = Operand::Place;
    int64_t offset = 0;
    const auto buffer = [&](int64_t rows, int64_t columns) {
      const Operand operand{Place::kArena, offset, columns};
      offset += rows * columns * 4;
      return operand;
    };
    const Operand x = buffer(kRows, kHidden), normed = buffer(kRows, kHidden), merged = buffer(kRows, kMerged);
    const Operand q = buffer(kRows, kHidden), attended = buffer(kRows, kHidden), last = buffer(kLogitRows, kHidden);
    const ops::KvShape kv{0, 1, kHeadDim};
    const auto add = [&](std::string name, ops::OpDesc desc, std::vector<Operand> inputs, std::vector<Operand> outputs) -> Step& {
      const std::string kernel = std::string(ops::op_name(ops::op_kind(desc))) + "_ref";
      plan.steps.push_back({std::move(name),
                            std::move(desc),
                            ops::Symbol::kTokens,
                            kernel,
                            {0, 0},
                            std::move(inputs),
                            std::move(outputs),
                            offset,
                            "why " + kernel,
                            {{"faster", "not for this test"}}});
      return plan.steps.back();
    };
    add("embedding", ops::EmbeddingDesc{kVocab, kHidden}, {place(Place::kIds), constant(0)}, {x});
    add("norm", ops::RmsNormDesc{kHidden, 1e-5f}, {x, constant(1)}, {normed});
    add("qkv", ops::GemmDesc{.n = kMerged, .k = kHidden, .bias = true}, {normed, constant(2), constant(3)}, {merged});
    add("rope", ops::RopeKvWriteDesc{kHeads, plan.rope, kv}, {merged}, {q, place(Place::kKvState)});
    add("attend", ops::AttentionDesc{kHeads, kv, 0.5f}, {q, place(Place::kKvState)}, {attended});
    add("rows", ops::GatherRowsDesc{kHidden}, {attended, place(Place::kLogitRows)}, {last}).rows = ops::Symbol::kLogitRows;
    add("head", ops::GemmDesc{.n = kVocab, .k = kHidden}, {last, constant(0)}, {place(Place::kLogits)}).rows =
        ops::Symbol::kLogitRows;
    plan.arena_bytes = offset + (1 << 16);
  }
};

inline api::TokenizerSpec test_tokenizer() {
  api::TokenizerSpec out;
  out.model = api::TokenizerModel::kSentencePieceBpe;
  out.tokens = {"<unk>", "a",
                "\xe2\x96\x81"
                "b",
                ""};
  out.kinds = {api::TokenKind::kUnknown, api::TokenKind::kNormal, api::TokenKind::kByte, api::TokenKind::kUnused};
  out.scores = {0, -1.5f, -2.25f, 0};
  out.merges = {{"a", "b"}, {"ab", ""}};
  out.added = {{2, "<end>", true, true, false, true, true}};
  out.normalizer = api::NormalizerKind::kNfkd;
  out.pre_tokenizer = {{api::PreTokenizerStep::Kind::kSplitIsolated, "\\w+", false},
                       {api::PreTokenizerStep::Kind::kPunctuation, "", true}};
  out.add_prefix_space = out.prefix_space_every_segment = out.prefix_space_if_missing = out.byte_fallback = true;
  out.ignore_merges = out.collapse_spaces = out.add_bos = out.add_eos = true;
  out.bos = 1;
  out.eos = 2;
  out.unk = 0;
  out.end_ids = {2, 3};
  return out;
}

inline EngineMeta test_meta() {
  EngineMeta meta;
  meta.fingerprint = {"cpu", "generic", {"avx2", "fma"}, "9.9", "00ff", "precision=f32"};
  meta.model.name = "tiny";
  meta.model.family = "llama";
  meta.model.precision = "f32";
  meta.model.parameters = 123;
  meta.model.layers = 1;
  meta.model.hidden = 16;
  meta.plan = TestPlan::make();
  meta.tokenizer = test_tokenizer();
  meta.prompt = {"{{ x }}", {{"tool_use", "{{ y }}"}}, "<s>", "</s>", {{"unk_token", "<unk>"}}, 0.5, 0.9, std::nullopt, 1.1, 40};
  return meta;
}

// Seeded numbers in [-1, 1) for every element: all constants are f32 rows.
inline Status fill_test_constant(const ConstantEntry& entry, std::span<std::byte> out) {
  uint64_t state = entry.name.size() + static_cast<uint64_t>(entry.n) * 31 + static_cast<uint64_t>(entry.k);
  for (size_t i = 0; i + 4 <= out.size(); i += 4) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const float value = static_cast<float>(state >> 40) * 0x1p-23f - 1.0f;
    std::memcpy(out.data() + i, &value, 4);
  }
  return base::ok_status();
}

inline LoadOptions test_load_options(WeightsMode mode = WeightsMode::kCopy) { return {{"cpu", {"avx2", "fma", "f16c"}}, mode, 2}; }

// A file of its own in the temporary folder; removed with the object.
struct TestFile {
  std::filesystem::path path;
  explicit TestFile(const std::string& name)
      : path(std::filesystem::temp_directory_path() / format("camshaft_{}_{}", process(), name)) {}
  ~TestFile() {
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

 private:
  // /proc/self is a link named after the process.
  static std::string process() { return std::filesystem::read_symlink("/proc/self").string(); }
};

}  // namespace camshaft::engine
