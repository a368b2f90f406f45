// `run` as a user meets it, in this process: a tiny model with a vocabulary of single characters, answers to files and pipes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands.h"

namespace camshaft::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTokenizer =
    R"({"added_tokens":[{"id":47,"content":"<|end|>","special":true,"lstrip":false,"rstrip":false,"normalized":false,)"
    R"("single_word":false}],"normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},)"
    R"("post_processor":null,"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","merges":[],"vocab":{)";
constexpr const char* kTokenizerConfig =
    R"({"eos_token":"<|end|>","chat_template":"{% for m in messages %}{{ m.content }}\n{% endfor %}"})";

// 26 letters, space and newline in the byte alphabet, then what else fits.
std::string tokenizer_json() {
  std::string text = kTokenizer;
  int id = 0;
  const auto add = [&](const std::string& token) { text += format("\"{}\":{},", token, id++); };
  for (const char c : std::string("abcdefghijklmnopqrstuvwxyz0123456789.,?!'-:()")) add(std::string(1, c));
  add("\u0120");
  add("\u010A");
  return text + R"("<|end|>":47}}})";
}

class RunTest : public testing::Test {
 protected:
  RunTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / format("camshaft_run_{}_{}", fs::read_symlink("/proc/self").string(), test->name());
    fs::create_directories(root_);
    fs::copy(CAMSHAFT_SOURCE_DIR "/tests/golden/tiny/llama_linear", model());
    std::ofstream(model() / "tokenizer.json") << tokenizer_json();
    std::ofstream(model() / "tokenizer_config.json") << kTokenizerConfig;
  }
  ~RunTest() override { fs::remove_all(root_); }

  fs::path model() const { return root_ / "model"; }

  // Runs it with standard input from `input`; output and errors go where the test says.
  int run(std::vector<std::string> words, const std::string& input, const fs::path& out, const fs::path& err) {
    words.insert(words.begin(), model());
    for (const char* word : {"--cache", "", "--isa", "generic", "--max-rows", "64", "--prefill-chunk", "32", "--threads", "1",
                             "--build-threads", "1", "--temperature", "0", "--max-tokens", "6"}) {
      words.emplace_back(*word == '\0' ? (root_ / "cache").string() : word);
    }
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    std::ofstream(root_ / "input", std::ios::trunc) << input;
    const int saved[] = {dup(0), dup(1), dup(2)};
    std::fflush(nullptr);
    redirect(0, root_ / "input", O_RDONLY);
    redirect(1, out, O_WRONLY | O_CREAT | O_APPEND);
    redirect(2, err, O_WRONLY | O_CREAT | O_APPEND);
    const int code = run_command().run(arguments);
    std::fflush(nullptr);
    clearerr(stdout);
    for (int i = 0; i < 3; ++i) {
      dup2(saved[i], i);
      close(saved[i]);
    }
    return code;
  }
  // The cache is filled first, so that nothing of building is in what the tests read.
  int run(const std::vector<std::string>& words, const std::string& input = "") {
    if (!fs::exists(root_ / "cache")) {
      EXPECT_EQ(run({"-p", "a"}, "", "/dev/null", "/dev/null"), 0);
    }
    fs::remove(root_ / "out");
    fs::remove(root_ / "err");
    const int code = run(words, input, root_ / "out", root_ / "err");
    out_ = text_of(root_ / "out");
    err_ = text_of(root_ / "err");
    return code;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  int64_t lines_with(std::string_view text, std::string_view words) {
    int64_t count = 0;
    for (size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) ++count;
    return count;
  }

  fs::path root_;
  std::string out_, err_;

 private:
  static void redirect(int descriptor, const fs::path& path, int flags) {
    const int opened = open(path.c_str(), flags, 0600);
    ASSERT_GE(opened, 0) << path;
    dup2(opened, descriptor);
    close(opened);
  }
};

TEST_F(RunTest, TheSpeedStandsOnALineOfItsOwn) {
  EXPECT_EQ(run({"-p", "hello"}), 0);
  ASSERT_TRUE(out_.ends_with("\n"));
  EXPECT_EQ(err_.find("[6 tokens in, 6 out; "), 0u) << err_;
  const std::string answer = out_;
  EXPECT_EQ(run({"-p", "hello"}, "", root_ / "both", root_ / "both"), 0);
  EXPECT_EQ(text_of(root_ / "both").find(answer + "["), 0u) << text_of(root_ / "both");
}

TEST_F(RunTest, AnEmptyPromptIsAPrompt) {
  EXPECT_EQ(run({"-p", "", "--json"}, "this is not read\n"), 0);
  const auto json = base::parse_json(out_);
  ASSERT_TRUE(json.ok()) << out_;
  EXPECT_EQ(run({"-p", "", "--raw"}), 6);  // this model has no BOS to start from
  EXPECT_NE(err_.find("prompt"), std::string::npos) << err_;
}

TEST_F(RunTest, ARefusedMessageDoesNotEndTheChat) {
  EXPECT_EQ(run({}, "hello\n\n  \n\xff\n" + std::string(200, 'a') + "\nhi\n"), 6);
  EXPECT_EQ(lines_with(err_, "[6 tokens in, 6 out; "), 1) << err_;
  EXPECT_EQ(lines_with(err_, " tokens in, 6 out; "), 2) << err_;
  EXPECT_EQ(lines_with(err_, "camshaft run: "), 2) << err_;
  EXPECT_NE(err_.find("UTF-8"), std::string::npos) << err_;
  EXPECT_NE(err_.find("64"), std::string::npos) << err_;
  EXPECT_EQ(err_.find("> "), std::string::npos) << err_;
  EXPECT_EQ(run({}, "hi\n"), 0);
}

TEST_F(RunTest, JsonIsALineAnAnswer) {
  EXPECT_EQ(run({"--json"}, "hello\nagain\n"), 0);
  EXPECT_EQ(lines_with(out_, "{\"text\":"), 2) << out_;
  EXPECT_EQ(std::ranges::count(out_, '\n'), 2) << out_;
  EXPECT_EQ(err_, "");
}

TEST_F(RunTest, AFullDiskIsAnError) {
  EXPECT_EQ(run({"-p", "a"}), 0);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-p", "a"}, {"-p", "a", "--json"}, {}}) {
    fs::remove(root_ / "err");
    EXPECT_EQ(run(words, "hello\n", "/dev/full", root_ / "err"), 4);
    EXPECT_NE(text_of(root_ / "err").find("standard output"), std::string::npos) << text_of(root_ / "err");
  }
}

}  // namespace
}  // namespace camshaft::cli
