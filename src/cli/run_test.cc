// `run` as a user meets it: answers to files and pipes.
#include <algorithm>

#include "base/json.h"
#include "cli/test_program.h"

namespace camshaft::cli {
namespace {

class RunTest : public ProgramTest {
 protected:
  int run(std::vector<std::string> words, const std::string& input, const fs::path& out, const fs::path& err) {
    words.insert(words.begin(), {"run", model()});
    for (const char* word : {"--cache", "", "--isa", "generic", "--max-rows", "64", "--prefill-chunk", "32", "--threads", "1",
                             "--build-threads", "1", "--temperature", "0", "--max-tokens", "6"}) {
      words.emplace_back(*word == '\0' ? (root_ / "cache").string() : word);
    }
    std::ofstream(root_ / "input", std::ios::trunc) << input;
    return program(words, Streams{root_ / "input", out, err});
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
  int64_t lines_with(std::string_view text, std::string_view words) {
    int64_t count = 0;
    for (size_t at = text.find(words); at != std::string_view::npos; at = text.find(words, at + 1)) ++count;
    return count;
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
