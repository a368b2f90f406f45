// Ids of real vocabularies against vectors of independent implementations (shared/data/vocab/README.md says which), read through
// room checkpoint, from GGUF and from tokenizer.json.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "text/tokenizer.h"

namespace camshaft::text {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<int32_t>;

fs::path data() { return fs::path(CAMSHAFT_SOURCE_DIR) / ".." / "shared" / "data"; }

#define SKIP_WITHOUT(path) \
  if (!fs::exists(path)) GTEST_SKIP() << (path) << " is not here"

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Result<Tokenizer> load(const fs::path& path) {
  CS_ASSIGN_OR_RETURN(checkpoint::Vocabulary vocabulary, checkpoint::open_vocabulary(path));
  return Tokenizer::make(std::move(vocabulary.tokenizer));
}

Result<Json> read_json(const fs::path& path) { return base::parse_json(read_file(path)); }

Ids ids_of(const Json& array) {
  Ids ids;
  for (const Json& id : array.as_array()) ids.push_back(static_cast<int32_t>(id.as_double()));
  return ids;
}

std::vector<std::string> inp_texts(const fs::path& path) {
  constexpr std::string_view kSeparator = "\n__ggml_vocab_test__\n";
  const std::string all = read_file(path);
  std::vector<std::string> texts;
  size_t from = 0;
  for (size_t at = all.find(kSeparator); at != std::string::npos; at = all.find(kSeparator, from)) {
    texts.push_back(all.substr(from, at - from));
    from = at + kSeparator.size();
  }
  return texts;  // the file ends with a separator
}

std::vector<Ids> out_ids(const fs::path& path) {
  std::ifstream in(path);
  std::vector<Ids> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream numbers(line);
    all.emplace_back();
    for (int32_t id; numbers >> id;) all.back().push_back(id);
  }
  return all;
}

void expect_ids(const Tokenizer& tokenizer, const std::string& text, SpecialAdding adding, SpecialParsing parsing,
                const Ids& want) {
  const auto got = tokenizer.encode(text, adding, parsing);
  ASSERT_TRUE(got.ok()) << got.status().to_string();
  EXPECT_EQ(*got, want) << "text: " << text << (parsing == SpecialParsing::kOn ? " (special tokens parsed)" : "");
}

void check_inp_out(const Tokenizer& tokenizer, const std::string& stem) {
  const auto texts = inp_texts(data() / "vocab" / (stem + ".gguf.inp"));
  const auto wants = out_ids(data() / "vocab" / (stem + ".gguf.out"));
  ASSERT_EQ(texts.size(), wants.size());
  ASSERT_GT(texts.size(), 40u);
  for (size_t i = 0; i < texts.size(); ++i) {
    expect_ids(tokenizer, texts[i], SpecialAdding::kOff, SpecialParsing::kOff, wants[i]);
  }
}

void check_cases(const Tokenizer& tokenizer, const fs::path& path, size_t count) {
  const auto file = read_json(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  const base::JsonArray& cases = file->find("cases")->as_array();
  ASSERT_EQ(cases.size(), count);
  for (const Json& one : cases) {
    const std::string& text = one.find("text")->as_string();
    const Json* plain = one.find("ids_no_special");
    const Json* ids = one.find("ids");
    expect_ids(tokenizer, text, SpecialAdding::kOn, SpecialParsing::kOn, ids_of(*ids));
    expect_ids(tokenizer, text, SpecialAdding::kOn, SpecialParsing::kOff, ids_of(plain != nullptr ? *plain : *ids));
  }
}

// Decoding gives the text back (byte-level; special tokens shown because the text may hold them).
void check_round_trip(const Tokenizer& tokenizer, const fs::path& path) {
  const auto file = read_json(path);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  for (const Json& one : file->find("cases")->as_array()) {
    const std::string& text = one.find("text")->as_string();
    const auto ids = tokenizer.encode(text, SpecialAdding::kOff, SpecialParsing::kOn);
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(tokenizer.decode(*ids, Tokenizer::ShowSpecial::kYes), text);
  }
}

TEST(VocabTest, Gpt2) {
  const fs::path file = data() / "vocab" / "ggml-vocab-gpt-2.gguf";
  SKIP_WITHOUT(file);
  const auto tokenizer = load(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  check_inp_out(*tokenizer, "ggml-vocab-gpt-2");
  check_cases(*tokenizer, data() / "vocab" / "fuzz-gpt-2.json", 200);
  check_round_trip(*tokenizer, data() / "vocab" / "fuzz-gpt-2.json");
}

TEST(VocabTest, Phi3) {
  const fs::path file = data() / "vocab" / "ggml-vocab-phi-3.gguf";
  SKIP_WITHOUT(file);
  const auto tokenizer = load(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  check_inp_out(*tokenizer, "ggml-vocab-phi-3");
  check_cases(*tokenizer, data() / "vocab" / "fuzz-phi-3.json", 200);
}

TEST(VocabTest, Qwen2) {
  const fs::path packed = data() / "vocab" / "ggml-vocab-qwen2.gguf.gz";
  SKIP_WITHOUT(packed);
  const fs::path file = fs::path(testing::TempDir()) / "vocab_test_qwen2.gguf";
  if (std::system(format("gzip -dc '{}' > '{}'", packed.string(), file.string()).c_str()) != 0) GTEST_SKIP() << "no gzip";
  const auto tokenizer = load(file);
  fs::remove(file);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  check_inp_out(*tokenizer, "ggml-vocab-qwen2");
  check_cases(*tokenizer, data() / "vocab" / "fuzz-qwen2.json", 200);
  check_round_trip(*tokenizer, data() / "vocab" / "fuzz-qwen2.json");
}

void check_smollm2(const fs::path& vocabulary) {
  const fs::path cases = data() / "vocab" / "smollm2-tokenizer.json";
  const auto tokenizer = load(vocabulary);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
  check_cases(*tokenizer, cases, 491);
  check_round_trip(*tokenizer, cases);
}

TEST(VocabTest, Smollm2Gguf) {
  const fs::path file = fs::path(CAMSHAFT_SOURCE_DIR) / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf";
  SKIP_WITHOUT(file);
  SKIP_WITHOUT(data());
  check_smollm2(file);
}

TEST(VocabTest, Smollm2TokenizerJson) {
  const fs::path folder = data() / "smollm2-hf";
  SKIP_WITHOUT(folder);
  check_smollm2(folder);
}

}  // namespace
}  // namespace camshaft::text
