// The program as a user meets it, in the test's process: a tiny model with a vocabulary of single characters; streams are files.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/format.h"
#include "cli/program.h"

namespace camshaft::cli {

namespace fs = std::filesystem;

inline constexpr const char* kTokenizer =
    R"({"added_tokens":[{"id":47,"content":"<|end|>","special":true,"lstrip":false,"rstrip":false,"normalized":false,)"
    R"("single_word":false}],"normalizer":null,"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},)"
    R"("post_processor":null,"decoder":{"type":"ByteLevel"},"model":{"type":"BPE","merges":[],"vocab":{)";
inline constexpr const char* kTokenizerConfig =
    R"({"eos_token":"<|end|>","chat_template":"{% for m in messages %}{{ m.content }}\n{% endfor %}"})";

// 26 letters, space and newline in the byte alphabet, then what else fits.
inline std::string tokenizer_json() {
  std::string text = kTokenizer;
  int id = 0;
  const auto add = [&](const std::string& token) { text += format("\"{}\":{},", token, id++); };
  for (const char c : std::string("abcdefghijklmnopqrstuvwxyz0123456789.,?!'-:()")) add(std::string(1, c));
  add("\u0120");
  add("\u010A");
  return text + R"("<|end|>":47}}})";
}

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() / format("camshaft_{}_{}_{}", test->test_suite_name(), getpid(), test->name());
    fs::create_directories(root_);
    fs::copy(CAMSHAFT_SOURCE_DIR "/tests/golden/tiny/llama_linear", model());
    std::ofstream(model() / "tokenizer.json") << tokenizer_json();
    std::ofstream(model() / "tokenizer_config.json") << kTokenizerConfig;
  }
  ~ProgramTest() override { fs::remove_all(root_); }

  fs::path model() const { return root_ / "model"; }

  // Files; an empty name is a closed stream.
  struct Streams {
    fs::path in, out, err;
  };
  int program(std::vector<std::string> words, const Streams& streams) {
    words.insert(words.begin(), "camshaft");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    const int saved[] = {dup(0), dup(1), dup(2)};
    std::fflush(nullptr);
    redirect(0, streams.in, O_RDONLY);
    redirect(1, streams.out, O_WRONLY | O_CREAT | O_APPEND);
    redirect(2, streams.err, O_WRONLY | O_CREAT | O_APPEND);
    const int code = run_program(arguments);
    std::fflush(nullptr);
    __fpurge(stdout);
    clearerr(stdout);
    for (int i = 0; i < 3; ++i) {
      dup2(saved[i], i);
      close(saved[i]);
    }
    return code;
  }
  // Leaves what it printed in out_ and err_.
  int program(const std::vector<std::string>& words, const std::string& input = "") {
    std::ofstream(root_ / "input", std::ios::trunc) << input;
    fs::remove(root_ / "out");
    fs::remove(root_ / "err");
    const int code = program(words, Streams{root_ / "input", root_ / "out", root_ / "err"});
    out_ = text_of(root_ / "out");
    err_ = text_of(root_ / "err");
    return code;
  }
  static std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  fs::path root_;
  std::string out_, err_;

 private:
  static void redirect(int descriptor, const fs::path& path, int flags) {
    if (path.empty()) {
      close(descriptor);
      return;
    }
    const int opened = open(path.c_str(), flags | O_NOCTTY, 0600);
    ASSERT_GE(opened, 0) << path;
    if (opened == descriptor) return;
    dup2(opened, descriptor);
    close(opened);
  }
};

}  // namespace camshaft::cli
