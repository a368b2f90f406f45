// Writing and reading: the same inputs give the same bytes, every field survives, both ways of holding weights, no file left by a
// build that fails.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "engine/container.h"
#include "engine/sections.h"
#include "engine/test_engine.h"

namespace camshaft::engine {
namespace {

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

std::vector<std::vector<std::byte>> sections_of(EngineMeta meta) {
  std::vector<std::vector<std::byte>> out;
  for (const SmallSection& section : small_sections()) out.push_back(section.write(meta));
  return out;
}

TEST(EngineFile, TheSameInputsGiveTheSameBytes) {
  const TestFile first("first.engine"), second("second.engine");
  const auto written = write_engine(first.path, test_meta(), fill_test_constant);
  ASSERT_TRUE(written.ok()) << written.status().message();
  EngineMeta later = test_meta();
  later.model.created_unix = 1700000000;
  ASSERT_TRUE(write_engine(second.path, later, fill_test_constant).ok());
  EXPECT_EQ(*written, std::filesystem::file_size(first.path));
  EXPECT_TRUE(bytes_of(first.path) == bytes_of(second.path));
}

TEST(EngineFile, EveryFieldSurvives) {
  const TestFile file("fields.engine");
  ASSERT_TRUE(write_engine(file.path, test_meta(), fill_test_constant).ok());
  const auto engine = Engine::open_meta(file.path);
  ASSERT_TRUE(engine.ok()) << engine.status().message();
  const EngineMeta& meta = (*engine)->meta();
  EngineMeta expected = test_meta();
  for (size_t i = 0; i < expected.plan.constants.size(); ++i) expected.plan.constants[i].offset = meta.plan.constants[i].offset;
  EXPECT_TRUE(sections_of(meta) == sections_of(expected));
  EXPECT_EQ(plan_to_json(meta.plan), plan_to_json(expected.plan));
  // The archive writes what it reads; these are read by name, so that a field that both forget is seen.
  EXPECT_EQ(meta.fingerprint.features, (std::vector<std::string>{"avx2", "fma"}));
  EXPECT_EQ(meta.fingerprint.options, "precision=f32");
  EXPECT_EQ(meta.model.precision, "f32");
  EXPECT_EQ(meta.model.parameters, 123);
  EXPECT_EQ(meta.tokenizer.tokens, test_tokenizer().tokens);
  EXPECT_EQ(meta.tokenizer.kinds, test_tokenizer().kinds);
  EXPECT_EQ(meta.tokenizer.scores, test_tokenizer().scores);
  EXPECT_EQ(meta.tokenizer.merges, test_tokenizer().merges);
  EXPECT_EQ(meta.tokenizer.added[0].content, "<end>");
  EXPECT_TRUE(meta.tokenizer.added[0].single_word && !meta.tokenizer.added[0].rstrip);
  EXPECT_EQ(meta.tokenizer.pre_tokenizer[0].pattern, "\\w+");
  EXPECT_EQ(meta.tokenizer.normalizer, api::NormalizerKind::kNfkd);
  EXPECT_TRUE(meta.tokenizer.collapse_spaces && meta.tokenizer.prefix_space_if_missing && meta.tokenizer.add_eos);
  EXPECT_EQ(meta.tokenizer.unk, 0);
  EXPECT_EQ(meta.tokenizer.pad, std::nullopt);
  EXPECT_EQ(meta.tokenizer.end_ids, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(meta.prompt.named_templates[0].second, "{{ y }}");
  EXPECT_EQ(meta.prompt.top_p, 0.9);
  EXPECT_EQ(meta.prompt.min_p, std::nullopt);
  EXPECT_EQ(meta.prompt.top_k, 40);
  EXPECT_EQ(meta.plan.rope, expected.plan.rope);
  EXPECT_EQ(meta.plan.kv, expected.plan.kv);
  EXPECT_EQ(meta.plan.steps[3].desc, expected.plan.steps[3].desc);
  EXPECT_EQ(meta.plan.steps[0].refused, expected.plan.steps[0].refused);
  EXPECT_EQ(meta.plan.passes[1].enabled, false);
  EXPECT_TRUE((*engine)->constant(0).empty());
}

TEST(EngineFile, WeightsCopiedAndMapped) {
  const TestFile file("weights.engine");
  ASSERT_TRUE(write_engine(file.path, test_meta(), fill_test_constant).ok());
  for (const WeightsMode mode : {WeightsMode::kCopy, WeightsMode::kMmap}) {
    const auto engine = Engine::load(file.path, test_load_options(mode));
    ASSERT_TRUE(engine.ok()) << engine.status().message();
    EXPECT_EQ((*engine)->file_bytes(), std::filesystem::file_size(file.path));
    for (int32_t i = 0; i < 4; ++i) {
      const ConstantEntry& entry = (*engine)->meta().plan.constants[static_cast<size_t>(i)];
      std::vector<std::byte> expected(entry.bytes);
      ASSERT_TRUE(fill_test_constant(entry, expected).ok());
      const auto found = (*engine)->constant(i);
      EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end())) << entry.name;
      EXPECT_EQ(reinterpret_cast<uintptr_t>(found.data()) % 64, 0u) << entry.name;
    }
  }
}

// More than one hash chunk, cut at no round number.
TEST(EngineFile, WeightsOfSeveralChunks) {
  const TestFile file("chunks.engine");
  EngineMeta meta = test_meta();
  meta.plan.constants.push_back({"big", "rows_f32", tensor::Format::kF32, 3000, 777, 0, 3000 * 777 * 4});
  ASSERT_TRUE(write_engine(file.path, meta, fill_test_constant).ok());
  ASSERT_GT(std::filesystem::file_size(file.path), 2 * kHashChunk);
  for (const WeightsMode mode : {WeightsMode::kCopy, WeightsMode::kMmap}) {
    const auto engine = Engine::load(file.path, test_load_options(mode));
    ASSERT_TRUE(engine.ok()) << engine.status().message();
  }
  // A flipped bit in the last chunk is seen by both.
  std::fstream stream(file.path, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(-100, std::ios::end);
  stream.put('\x55');
  stream.close();
  for (const WeightsMode mode : {WeightsMode::kCopy, WeightsMode::kMmap}) {
    const auto engine = Engine::load(file.path, test_load_options(mode));
    ASSERT_FALSE(engine.ok());
    EXPECT_EQ(engine.status().code(), Code::kDataLoss);
    EXPECT_NE(engine.status().message().find("section 'constants': its hash is "), std::string::npos) << engine.status().message();
  }
}

TEST(EngineFile, AFailedBuildLeavesNoFileAndKeepsTheOldOne) {
  const auto folder = std::filesystem::temp_directory_path() / ("camshaft_folder_" + TestFile("x").path.filename().string());
  std::filesystem::create_directory(folder);
  const auto failing = [](const ConstantEntry& entry, std::span<std::byte> out) {
    return entry.name == "qkv" ? base::internal_error("the disk of the test is full") : fill_test_constant(entry, out);
  };
  const auto path = folder / "model.engine";
  EXPECT_EQ(write_engine(path, test_meta(), failing).status().message(), "the disk of the test is full");
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  ASSERT_TRUE(write_engine(path, test_meta(), fill_test_constant).ok());
  const auto before = bytes_of(path);
  EXPECT_FALSE(write_engine(path, test_meta(), failing).ok());
  EXPECT_TRUE(bytes_of(path) == before);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(write_engine(folder / "model.engine", test_meta(), fill_test_constant).ok());
}

TEST(EngineFile, IsTellableFromOthers) {
  const TestFile file("magic.engine");
  ASSERT_TRUE(write_engine(file.path, test_meta(), fill_test_constant).ok());
  EXPECT_TRUE(is_engine_file(file.path).value());
  std::ofstream(file.path, std::ios::trunc) << "CAMSHAF";
  EXPECT_FALSE(is_engine_file(file.path).value());
  std::filesystem::remove(file.path);
  EXPECT_FALSE(is_engine_file(file.path).ok());
}

TEST(EngineFile, RefusesAnotherTargetByName) {
  const TestFile file("target.engine");
  ASSERT_TRUE(write_engine(file.path, test_meta(), fill_test_constant).ok());
  const auto message = [&](const Target& machine) {
    const auto engine = Engine::load(file.path, {machine, WeightsMode::kCopy, 1});
    EXPECT_EQ(engine.status().code(), Code::kFailedPrecondition);
    return engine.status().message();
  };
  EXPECT_NE(message({"cuda", {"avx2", "fma"}})
                .find("the engine is built for target 'cpu', this is 'cuda'; build it for this machine with 'camshaft build'"),
            std::string::npos);
  EXPECT_NE(message({"cpu", {"avx2"}})
                .find("the engine is built for ISA class 'generic' and needs the CPU feature fma; this machine has avx2; build it "
                      "here, or for a lower class with 'camshaft build --isa'"),
            std::string::npos);
  EXPECT_NE(message({"cpu", {}}).find("avx2, fma; this machine has none"), std::string::npos);
  EXPECT_TRUE(Engine::open_meta(file.path).ok());  // inspect works anywhere
}

TEST(Buckets, TheFirstThatHoldsTheRows) {
  const std::vector<ShapeBucket> buckets = {{1}, {4}, {64}};
  const std::pair<int64_t, size_t> cases[] = {{1, 0}, {2, 1}, {4, 1}, {5, 2}, {64, 2}};
  for (const auto& [rows, index] : cases) EXPECT_EQ(bucket_index(buckets, rows), index) << rows;
}

}  // namespace
}  // namespace camshaft::engine
