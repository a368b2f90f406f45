// Real models and vocabularies.
#include "checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "checkpoint/test_files.h"

namespace camshaft::checkpoint {
namespace {

namespace fs = std::filesystem;
using api::TokenKind;

const fs::path kDefaultModel = CAMSHAFT_SOURCE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf";
const fs::path kData = CAMSHAFT_SOURCE_DIR "/../shared/data";

#define SKIP_WITHOUT(path) \
  if (!fs::exists(path)) GTEST_SKIP() << (path) << " is absent"

int64_t integer(const Json& config, std::string_view key) {
  const Json* value = config.find(key);
  return value == nullptr || value->int_if() == nullptr ? -1 : *value->int_if();
}

void expect_smollm2(const api::TokenizerSpec& spec) {
  EXPECT_EQ(spec.model, api::TokenizerModel::kByteLevelBpe);
  EXPECT_EQ(spec.tokens.size(), 49152u);
  EXPECT_EQ(spec.merges.size(), 48900u);
  EXPECT_EQ(spec.merges.front(), (std::pair<std::string, std::string>("\u0120", "t")));
  EXPECT_EQ(spec.bos, 1);
  EXPECT_EQ(spec.eos, 2);
  EXPECT_EQ(spec.end_ids, (std::vector<int32_t>{2, 0}));
  EXPECT_FALSE(spec.add_bos);
  EXPECT_FALSE(spec.add_prefix_space);
  ASSERT_EQ(spec.pre_tokenizer.size(), 2u);
  EXPECT_EQ(spec.pre_tokenizer[0].kind, api::PreTokenizerStep::Kind::kDigits);
  EXPECT_TRUE(spec.pre_tokenizer[0].individual);
  EXPECT_EQ(spec.pre_tokenizer[1].kind, api::PreTokenizerStep::Kind::kByteLevelGpt2);
  EXPECT_EQ(spec.kinds[1], TokenKind::kControl);
  ASSERT_GE(spec.added.size(), 3u);
  EXPECT_EQ(spec.added[1].content, "<|im_start|>");
  EXPECT_TRUE(spec.added[1].special);
}

TEST(Checkpoint, DefaultModel) {
  SKIP_WITHOUT(kDefaultModel);
  auto opened = open_checkpoint(kDefaultModel);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  const Checkpoint& model = **opened;
  EXPECT_EQ(model.source(), Source::kGguf);
  EXPECT_EQ(model.name(), "Smollm2 135M 8k Lc100K Mix1 Ep2");
  EXPECT_EQ(model.tensors().size(), 272u);
  EXPECT_EQ(integer(model.config(), "llama.block_count"), 30);
  EXPECT_EQ(model.config().find("tokenizer.ggml.tokens"), nullptr);
  const NamedTensor* down = model.find("blk.0.ffn_down.weight");
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->view.shape, (tensor::Shape{576, 1536}));
  EXPECT_EQ(down->view.format, tensor::Format::kQ4_1);
  EXPECT_EQ(model.find("blk.30.ffn_down.weight"), nullptr);
  std::vector<float> before(1536), after(1536);
  down->view.unpack_row(575, before.data());
  EXPECT_TRUE(std::any_of(before.begin(), before.end(), [](float x) { return x != 0; }));
  model.drop_pages(*down);
  down->view.unpack_row(575, after.data());
  EXPECT_EQ(before, after);
  EXPECT_EQ(model.content_hash(), (*open_checkpoint(kDefaultModel))->content_hash());
}

TEST(Checkpoint, DefaultModelsVocabulary) {
  SKIP_WITHOUT(kDefaultModel);
  auto vocabulary = open_vocabulary(kDefaultModel);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status().to_string();
  expect_smollm2(vocabulary->tokenizer);
  EXPECT_EQ(vocabulary->prompt.bos_token, "<|im_start|>");
  EXPECT_EQ(vocabulary->prompt.eos_token, "<|im_end|>");
  EXPECT_TRUE(vocabulary->prompt.chat_template.starts_with("{% for message in messages %}"));
}

TEST(Checkpoint, TokenizerJsonGivesTheSameVocabularyAsTheGguf) {
  SKIP_WITHOUT(kDefaultModel);
  SKIP_WITHOUT(kData / "smollm2-hf");
  auto gguf = open_vocabulary(kDefaultModel);
  ASSERT_TRUE(gguf.ok());
  for (const fs::path& path : {kData / "smollm2-hf", kData / "smollm2-hf/tokenizer.json"}) {
    auto folder = open_vocabulary(path);
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    expect_smollm2(folder->tokenizer);
    EXPECT_EQ(folder->tokenizer.tokens, gguf->tokenizer.tokens);
    EXPECT_EQ(folder->tokenizer.merges, gguf->tokenizer.merges);
    EXPECT_EQ(folder->tokenizer.pad, gguf->tokenizer.pad);
    EXPECT_EQ(folder->prompt.chat_template, gguf->prompt.chat_template);
    EXPECT_EQ(folder->prompt.bos_token, "<|im_start|>");
  }
}

TEST(Checkpoint, Gpt2Vocabulary) {
  const fs::path path = kData / "vocab/ggml-vocab-gpt-2.gguf";
  SKIP_WITHOUT(path);
  auto opened = open_checkpoint(path);  // no tensors
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_TRUE((*opened)->tensors().empty());
  auto spec = (*opened)->tokenizer();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->tokens.size(), 50257u);
  EXPECT_EQ(spec->merges.size(), 50000u);
  EXPECT_EQ(spec->end_ids, (std::vector<int32_t>{50256}));
}

TEST(Checkpoint, Phi3Vocabulary) {
  const fs::path path = kData / "vocab/ggml-vocab-phi-3.gguf";
  SKIP_WITHOUT(path);
  auto vocabulary = open_vocabulary(path);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status().to_string();
  const api::TokenizerSpec& spec = vocabulary->tokenizer;
  EXPECT_EQ(spec.model, api::TokenizerModel::kSentencePieceBpe);
  EXPECT_EQ(spec.tokens.size(), 32064u);
  EXPECT_EQ(spec.scores.size(), 32064u);
  EXPECT_TRUE(spec.byte_fallback);
  EXPECT_TRUE(spec.add_bos);
  EXPECT_TRUE(spec.add_prefix_space);
  EXPECT_EQ(spec.kinds[3], TokenKind::kByte);
  EXPECT_EQ(spec.end_ids.front(), 32000);
  EXPECT_NE(std::find(spec.end_ids.begin(), spec.end_ids.end(), 32007), spec.end_ids.end());  // <|end|>
}

TEST(Checkpoint, Qwen2Vocabulary) {
  const fs::path packed = kData / "vocab/ggml-vocab-qwen2.gguf.gz";
  SKIP_WITHOUT(packed);
  TempFolder folder;
  const fs::path path = folder.path() / "qwen2.gguf";
  const std::string command = "gzip -dc '" + packed.native() + "' > '" + path.native() + "'";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "gzip is absent";
  auto vocabulary = open_vocabulary(path);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status().to_string();
  EXPECT_EQ(vocabulary->tokenizer.tokens.size(), 151936u);
  ASSERT_EQ(vocabulary->tokenizer.pre_tokenizer.size(), 1u);
}

TEST(Checkpoint, WordPieceIsNamed) {
  const fs::path path = kData / "vocab/ggml-vocab-bert-bge.gguf";
  SKIP_WITHOUT(path);
  const Status status = open_vocabulary(path).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("'bert'"), std::string::npos) << status.message();
}

TEST(Checkpoint, PathsThatAreNoModel) {
  TempFolder folder;
  EXPECT_EQ(open_checkpoint(folder.path() / "none").status().code(), Code::kNotFound);
  folder.write("notes.txt", "hello");
  EXPECT_NE(open_checkpoint(folder.path() / "notes.txt").status().message().find("is no model"), std::string::npos);
  folder.write("empty.gguf", "");
  EXPECT_NE(open_checkpoint(folder.path() / "empty.gguf").status().message().find("is empty"), std::string::npos);
  EXPECT_NE(open_checkpoint(folder.path()).status().message().find("no config.json"), std::string::npos);
  EXPECT_NE(open_vocabulary(folder.path()).status().message().find("carries no vocabulary"), std::string::npos);
}

}  // namespace
}  // namespace camshaft::checkpoint
