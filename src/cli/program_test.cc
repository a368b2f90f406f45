// What the program refuses and which exit code says so; what it writes to, and what it never touches.
#include <cstdlib>

#include "cli/test_program.h"
#include "cli/test_terminal.h"

namespace camshaft::cli {
namespace {

class Program : public ProgramTest {
 protected:
  std::string at(const std::string& name) const { return root_ / name; }
  // A word that begins with '@' is a file of the test's folder.
  int with_files(std::vector<std::string> words, const std::string& input = "") {
    for (std::string& word : words) {
      if (word.starts_with("@")) word = at(word.substr(1));
    }
    return program(words, input);
  }
  void build_engine_file() {
    ASSERT_EQ(with_files({"build", "@model", "-o", "@e.engine", "--isa", "generic", "--max-rows", "64", "--build-threads", "1"}), 0)
        << err_;
  }

  struct Case {
    std::vector<std::string> words;
    int code;
    std::vector<std::string> said;
  };
  void expect(const std::vector<Case>& cases) {
    for (const Case& each : cases) {
      std::string line;
      for (const std::string& word : each.words) line += " " + word.substr(0, 40);
      EXPECT_EQ(with_files(each.words), each.code) << line << "\n" << err_;
      for (const std::string& words : each.said) EXPECT_NE(err_.find(words), std::string::npos) << line << "\n" << err_;
    }
  }
};

TEST_F(Program, ABuildNeverWritesOverWhatItReads) {
  const std::string weights = text_of(model() / "model.safetensors");
  fs::create_hard_link(model() / "model.safetensors", at("linked.engine"));
  fs::create_symlink(model() / "model.safetensors", at("symbolic.engine"));
  expect({
      {{"build", "@model/model.safetensors", "-o", "@model/model.safetensors"}, 2, {"model.safetensors", "reads"}},
      {{"build", "@model/model.safetensors", "-o", "@model/../model/config.json"}, 2, {"config.json", "reads"}},
      {{"build", "@model", "-o", "@model/model.safetensors"}, 2, {"model.safetensors", "reads"}},
      {{"build", "@model", "-o", "@model/tokenizer.json"}, 2, {"tokenizer.json", "reads"}},
      {{"build", "@model", "-o", "@linked.engine"}, 2, {"linked.engine", "reads"}},
      {{"build", "@model", "-o", "@symbolic.engine"}, 2, {"symbolic.engine"}},
  });
  EXPECT_EQ(text_of(model() / "model.safetensors"), weights);
  EXPECT_EQ(text_of(model() / "tokenizer.json"), tokenizer_json());
  EXPECT_TRUE(fs::is_symlink(at("symbolic.engine")));
}

TEST_F(Program, AnEngineInTheModelsFolderIsBuiltAgain) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(with_files({"build", "@model", "-o", "@model/m.engine", "--isa", "generic"}), 0) << err_;
}

TEST_F(Program, NamesThatCannotBeOpenedAreInputErrors) {
  fs::create_symlink("l2", at("l1"));
  fs::create_symlink("l1", at("l2"));
  const std::string name(300, 'a');
  for (const std::string& file : {at("l1"), name}) {
    expect({
        {{"run", file, "-p", "x"}, 4, {"cannot open " + file + ": "}},
        {{"serve", file, "--port", "0"}, 4, {"cannot open " + file + ": "}},
        {{"bench", file}, 4, {"cannot open " + file + ": "}},
        {{"tokenize", file}, 4, {"cannot open " + file + ": "}},
        {{"template", file, "--messages", "@model/config.json"}, 4, {"cannot open " + file + ": "}},
        {{"inspect", file}, 4, {"cannot open " + file + ": "}},
        {{"build", file}, 4, {"cannot open " + file + ": "}},
    });
  }
}

TEST_F(Program, WhatDoesNotReachStandardOutputIsAnError) {
  build_engine_file();
  std::ofstream(at("text")) << "hello hello hello";
  std::ofstream(at("messages.json")) << R"({"messages":[{"role":"user","content":"hi"}]})";
  const std::vector<std::vector<std::string>> lines = {
      {"inspect", at("e.engine")},
      {"inspect", at("e.engine"), "--json"},
      {"build", model(), "--print", "ir"},
      {"tokenize", at("e.engine")},
      {"template", at("e.engine"), "--messages", at("messages.json")},
      {"bench", at("e.engine"), "--json", "--input-len", "4", "--output-len", "2", "--requests", "1", "--prefill-chunk", "32"},
      {"score", at("e.engine"), "--text", at("text"), "--chunk-tokens", "8", "--prefill-chunk", "32"},
      {"options"},
      {"--help"},
      {"--version"},
      {"run", "--help"},
  };
  for (const auto& line : lines) {
    for (const char* out : {"/dev/full", ""}) {
      fs::remove(at("err"));
      EXPECT_EQ(program(line, Streams{at("text"), out, at("err")}), 4) << line[0] << " to '" << out << "'";
      EXPECT_NE(text_of(at("err")).find("cannot write to standard output: "), std::string::npos) << line[0] << text_of(at("err"));
    }
    EXPECT_EQ(program(line, "hello"), 0) << line[0] << err_;
  }
}

TEST_F(Program, AnEngineIsBuiltAlready) {
  build_engine_file();
  expect({
      {{"run", "@e.engine", "-p", "x", "--isa", "generic"}, 2, {"--isa generic", "e.engine", "already built", "checkpoint"}},
      {{"run", "@e.engine", "-p", "x", "--max-rows", "128"}, 2, {"--max-rows 128"}},
      {{"run", "@e.engine", "-p", "x", "--passes", "-merge_qkv"}, 2, {"--passes -merge_qkv"}},
      {{"bench", "@e.engine", "--precision", "keep"}, 2, {"--precision keep"}},
      {{"serve", "@e.engine", "--port", "0", "--kv", "f32"}, 2, {"--kv f32"}},
      {{"score", "@e.engine", "--text", "@e.engine", "--kv", "f32"}, 2, {"--kv f32"}},
  });
}

TEST_F(Program, ExitCodesTellTheKindOfMistake) {
  build_engine_file();
  std::ofstream(at("empty.engine")).flush();
  std::ofstream(at("x.jinja")) << "x";
  expect({
      {{"run", "@e.engine", "-p", "x", "--prefill-chunk", "32", "--kv-memory", "1K"}, 2, {"--kv-memory"}},
      {{"run", "@e.engine", "-p", "x", "--top-p", "0"}, 2, {"--top-p", "'0'"}},
      {{"run", "@e.engine", "-p", "x", "--temperature", "-0.5"}, 2, {"--temperature", "-0.5", "0..2"}},
      {{"run", "@e.engine", "-p", "x", "--repetition-penalty", "0"}, 2, {"--repetition-penalty", "'0'"}},
      {{"run", "@e.engine", "-p", "x", "--repetition-penalty", "-1"}, 2, {"--repetition-penalty", "'-1'"}},
      {{"run", "@e.engine", "-p", "x", "--min-p", "-0.1"}, 2, {"--min-p", "-0.1"}},
      {{"run", "@e.engine", "-p", "x", "--top-k", "-1"}, 2, {"--top-k", "-1"}},
      {{"template", "@x.jinja", "--messages", "@model"}, 4, {"--messages", "is a folder"}},
      {{"run", "@empty.engine", "-p", "x"}, 3, {"empty.engine"}},
      {{"score", "@e.engine"}, 2, {"--text"}},
      {{"build", "@model", "--stop-after", "merge_qkv", "--print", "plan"}, 2, {"--stop-after", "--print ir"}},
      {{"run", "@e.engine", "--raw", "--system", "s", "-p", "x"}, 2, {"--system", "--raw"}},
      {{"run", "@e.engine", "--raw"}, 2, {"--raw", "-p"}},
      {{"serve", "@e.engine", "--port", "0", "--name", "a b"}, 2, {"--name", "a b"}},
      {{"serve", "@e.engine", "--port", "0", "--name", ""}, 2, {"--name"}},
      {{"serve", "@e.engine", "--port", "0", "--host", ""}, 2, {"--host"}},
  });
}

TEST_F(Program, AtATerminalThereIsNoChatInJson) {
  const TestTerminal terminal;
  if (!terminal.exists()) GTEST_SKIP() << "no pseudo terminals here";
  EXPECT_EQ(program({"run", model(), "--json"}, Streams{terminal.name(), at("out"), at("err")}), 2);
  EXPECT_NE(text_of(at("err")).find("--json"), std::string::npos) << text_of(at("err"));
}

TEST_F(Program, AFolderAsStandardInputCannotBeRead) {
  build_engine_file();
  fs::remove(at("out"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"tokenize"}, {"tokenize", "--decode"}, {"run", "--prefill-chunk", "32"}}) {
    std::vector<std::string> line = words;
    line.push_back(at("e.engine"));
    for (const fs::path& in : {model(), fs::path()}) {
      fs::remove(at("err"));
      EXPECT_EQ(program(line, Streams{in, at("out"), at("err")}), 4) << line[0] << " < " << in;
      EXPECT_NE(text_of(at("err")).find("cannot read standard input: "), std::string::npos) << text_of(at("err"));
    }
  }
  EXPECT_EQ(text_of(at("out")), "");
}

}  // namespace
}  // namespace camshaft::cli
