// Command lines onto option tables: defaults, values, and what a user who mistypes is told.
#include "cli/args.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/build_engine.h"
#include "cli/open_model.h"

namespace camshaft::cli {
namespace {

struct Values {
  std::string model, prompt, precision, file;
  int64_t seqs = -1;
  double temperature = -1;
  uint64_t bytes = 1;
  bool json = true;
};

CommandSpec spec(Values& v) {
  return {"try",
          "Tries things.",
          {{"MODEL", "A model.", true, &v.model}, {"PROMPT", "Text.", false, &v.prompt}},
          {{"precision", base::Choice{{"keep", "f32"}}, "keep", "Weights.", &v.precision},
           {"o", base::Text{"FILE"}, "", "Output.", &v.file},
           {"max-seqs", base::IntRange{1, 64}, "4", "Sequences.", &v.seqs},
           {"temperature", base::DoubleRange{0, 2}, "1", "Heat.", &v.temperature},
           {"kv-memory", base::ByteRange{0, uint64_t{1} << 40}, "0", "Bytes.", &v.bytes},
           {"json", base::Flag{}, "false", "As JSON.", &v.json}}};
}

Result<Parsed> parse(Values& v, std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  const CommandSpec taken = spec(v);
  return parse_arguments(taken, arguments);
}

TEST(Args, DefaultsStandWhereNothingIsSaid) {
  Values v;
  const auto parsed = parse(v, {"a.gguf"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(*parsed, Parsed::kRun);
  EXPECT_EQ(v.model, "a.gguf");
  EXPECT_EQ(v.prompt, "");
  EXPECT_EQ(v.precision, "keep");
  EXPECT_EQ(v.seqs, 4);
  EXPECT_EQ(v.temperature, 1);
  EXPECT_EQ(v.bytes, 0u);
  EXPECT_FALSE(v.json);
}

TEST(Args, ValuesInEveryForm) {
  Values v;
  const auto parsed = parse(v, {"--max-seqs", "64", "m", "--temperature=0.5", "say --this", "-o", "out", "--kv-memory", "2G",
                                "--json", "--precision", "f32"});
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(v.seqs, 64);
  EXPECT_EQ(v.temperature, 0.5);
  EXPECT_EQ(v.prompt, "say --this");
  EXPECT_EQ(v.file, "out");
  EXPECT_EQ(v.bytes, uint64_t{2} << 30);
  EXPECT_TRUE(v.json);
  EXPECT_EQ(v.precision, "f32");
}

TEST(Args, MistakesAreUsageErrorsThatNameTheThing) {
  const struct {
    std::vector<std::string> words;
    std::vector<std::string> in_message;
  } cases[] = {
      {{}, {"MODEL", "camshaft try --help"}},
      {{"m", "p", "extra"}, {"extra", "camshaft try --help"}},
      {{"m", "--unknown", "3"}, {"--unknown", "camshaft try --help"}},
      {{"m", "--max-seqs", "0"}, {"max-seqs", "0", "1..64"}},
      {{"m", "--max-seqs", "65"}, {"max-seqs", "65", "1..64"}},
      {{"m", "--max-seqs", "many"}, {"max-seqs", "many"}},
      {{"m", "--max-seqs", "4x"}, {"max-seqs", "4x"}},
      {{"m", "--max-seqs", "99999999999999999999"}, {"max-seqs", "99999999999999999999"}},
      {{"m", "--max-seqs"}, {"--max-seqs", "camshaft try --help"}},
      {{"m", "--temperature", "2.5"}, {"temperature", "2.5"}},
      {{"m", "--temperature", "nan"}, {"temperature", "nan"}},
      {{"m", "--kv-memory", "1T"}, {"kv-memory", "1T"}},
      {{"m", "--kv-memory", "-1"}, {"kv-memory", "-1"}},
      {{"m", "--precision", "fp8"}, {"precision", "fp8", "keep", "f32"}},
      {{"m", "--max-seqs", "0", "--precision", "fp8"}, {"precision"}},  // one mistake at a time, in the table's order
  };
  for (const auto& each : cases) {
    Values v;
    const auto parsed = parse(v, each.words);
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    for (const std::string& word : each.in_message) {
      EXPECT_NE(parsed.status().message().find(word), std::string::npos) << "'" << word << "' in: " << parsed.status().message();
    }
  }
}

TEST(Args, AnEmptyValueIsGivenAllTheSame) {
  Values v;
  std::set<std::string> given;
  std::vector<std::string> words = {"m", "-o", "", "--json"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  CommandSpec taken = spec(v);
  taken.given = &given;
  ASSERT_TRUE(parse_arguments(taken, arguments).ok());
  EXPECT_EQ(v.file, "");
  EXPECT_EQ(given, (std::set<std::string>{"json", "o"}));
}

TEST(Args, HelpRunsNothing) {
  Values v;
  testing::internal::CaptureStdout();
  const auto parsed = parse(v, {"--help"});
  const std::string help = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(*parsed, Parsed::kHelpShown);
  for (const char* words : {"Tries things.", "--max-seqs", "1..64", "(default 4)", "MODEL", "--kv-memory"}) {
    EXPECT_NE(help.find(words), std::string::npos) << words;
  }
}

// Each command's table holds its own defaults, names no option twice and stands in the page.
TEST(Args, TablesOfTheCommandsAreSound) {
  const std::string page = options_page();
  for (const Command& command : commands()) {
    const CommandSpec described = command.describe();
    EXPECT_EQ(described.name, command.name);
    EXPECT_NE(page.find("## `camshaft " + described.name), std::string::npos);
    std::vector<std::string> names;
    for (const base::Option& option : described.options) {
      EXPECT_EQ(std::ranges::count(names, option.name), 0) << command.name << " --" << option.name;
      names.push_back(option.name);
      EXPECT_FALSE(option.help.empty()) << option.name;
    }
  }
  BuildOptions build;
  const auto build_table = build_option_table(build);
  EXPECT_EQ(base::set_defaults(build_table).message(), "");
  ModelOptions model;
  const auto model_table = model_option_table(model, "32");
  EXPECT_EQ(base::set_defaults(model_table).message(), "");
  EXPECT_EQ(model.max_seqs, 32);
  EXPECT_EQ(model.build.precision, "keep");
}

TEST(Args, ExitCodesTellWhatFailed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_failure("try", base::io_error("cannot read", 5), FailedThing::kEngine), 4);
  EXPECT_EQ(report_failure("try", base::not_found("gone"), FailedThing::kCheckpoint), 4);
  EXPECT_EQ(report_failure("try", base::invalid_argument("bad"), FailedThing::kEngine), 2);
  EXPECT_EQ(report_failure("try", base::invalid_argument("bad"), FailedThing::kRequest), 6);
  EXPECT_EQ(report_failure("try", base::data_loss("cut"), FailedThing::kEngine), 3);
  EXPECT_EQ(report_failure("try", base::data_loss("cut"), FailedThing::kCheckpoint), 5);
  EXPECT_TRUE(testing::internal::GetCapturedStderr().starts_with("camshaft try: "));
}

TEST(BuildOptions, ResolveToThePrecisionAndTheMachine) {
  BuildOptions o;
  const auto table = build_option_table(o);
  ASSERT_TRUE(base::set_defaults(table).ok());
  const auto plain = resolve_build(o);
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->kv_format, tensor::Format::kF16);
  EXPECT_EQ(plain->isa, kernels::detect_isa());
  o.precision = "f32";
  o.isa = "generic";
  o.passes = "-fuse_swiglu,-merge_qkv";
  const auto exact = resolve_build(o);
  ASSERT_TRUE(exact.ok());
  EXPECT_EQ(exact->kv_format, tensor::Format::kF32);
  EXPECT_EQ(canonical_text(*exact),
            "precision=f32 isa=generic kv=f32 max-rows=1024 max-logit-rows=256 max-workers=64 passes=-fuse_swiglu-merge_qkv");
  for (const char* passes : {"fuse_swiglu", "-", ",", "-fuse_swiglu,,"}) {
    o.passes = passes;
    EXPECT_EQ(resolve_build(o).status().code(), Code::kInvalidArgument) << passes;
  }
}

}  // namespace
}  // namespace camshaft::cli
