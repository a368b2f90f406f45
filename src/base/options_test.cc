#include "base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace camshaft::base {
namespace {

using ::testing::HasSubstr;

struct Settings {
  bool fast = false;
  int64_t threads = 0;
  double fraction = 0;
  uint64_t memory = 0;
  std::string mode;
  std::string file = "untouched";
};

std::vector<Option> table(Settings& s) {
  return {
      {"fast", Flag{}, "true", "Be fast.", &s.fast},
      {"threads", IntRange{1, 64}, "4", "Threads.", &s.threads},
      {"fraction", DoubleRange{0, 1}, "0.5", "Share of memory.", &s.fraction},
      {"memory", ByteRange{4096, uint64_t{1} << 40}, "64M", "Memory in bytes.", &s.memory},
      {"mode", Choice{{"quick", "exact"}}, "exact", "Mode.", &s.mode},
      {"file", Text{"FILE"}, "", "File.", &s.file},
  };
}

TEST(OptionsTest, DefaultsReachTheStruct) {
  Settings s;
  ASSERT_TRUE(set_defaults(table(s)).ok());
  EXPECT_TRUE(s.fast);
  EXPECT_EQ(s.threads, 4);
  EXPECT_EQ(s.fraction, 0.5);
  EXPECT_EQ(s.memory, uint64_t{64} << 20);
  EXPECT_EQ(s.mode, "exact");
  EXPECT_EQ(s.file, "untouched");
}

TEST(OptionsTest, ABadDefaultIsNamed) {
  Settings s;
  const std::vector<Option> options = {{"threads", IntRange{1, 64}, "65", "Threads.", &s.threads}};
  EXPECT_THAT(set_defaults(options).message(), HasSubstr("default value: --threads is '65'"));
}

struct ValueCase {
  std::string_view option;
  std::string_view text;
  bool accepted;
};

constexpr ValueCase kValueCases[] = {
    {"fast", "true", true},      {"fast", "0", true},
    {"fast", "yes", false},      {"fast", "", false},
    {"threads", "1", true},      {"threads", "64", true},
    {"threads", "0", false},     {"threads", "65", false},
    {"threads", "-1", false},    {"threads", "4.0", false},
    {"threads", " 4", false},    {"threads", "4x", false},
    {"threads", "", false},      {"threads", "99999999999999999999", false},
    {"fraction", "0", true},     {"fraction", "1", true},
    {"fraction", "1e-3", true},  {"fraction", "1.01", false},
    {"fraction", "nan", false},  {"fraction", "inf", false},
    {"fraction", "-0.1", false}, {"memory", "4096", true},
    {"memory", "4K", true},      {"memory", "1g", true},
    {"memory", "4095", false},   {"memory", "1T", false},
    {"memory", "K", false},      {"memory", "-1", false},
    {"memory", "2048G", false},  {"memory", "99999999999G", false},
    {"mode", "quick", true},     {"mode", "QUICK", false},
    {"mode", "", false},         {"file", "any thing", true},
    {"file", "", true},
};

TEST(OptionsTest, ValuesAreCheckedAgainstTheKind) {
  for (const ValueCase& c : kValueCases) {
    Settings s;
    for (const Option& option : table(s)) {
      if (option.name != c.option) continue;
      const Status status = set_option(option, c.text);
      EXPECT_EQ(status.ok(), c.accepted) << c.option << "=" << c.text;
      if (status.ok()) continue;
      EXPECT_EQ(status.subject(), c.option);
      EXPECT_THAT(status.message(), HasSubstr(allowed_text(option.kind)));
    }
  }
}

TEST(OptionsTest, AllowedTexts) {
  Settings s;
  std::vector<std::string> texts;
  for (const Option& option : table(s)) texts.push_back(allowed_text(option.kind));
  EXPECT_THAT(texts, ::testing::ElementsAre("true|false", "1..64", "0..1", "4K..1024G", "quick|exact", "FILE"));
}

TEST(OptionsTest, BytesReadWhatTheyWrite) {
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1024}, uint64_t{1536}, uint64_t{5} << 30, UINT64_MAX}) {
    EXPECT_EQ(*parse_bytes(bytes_text(bytes)), bytes);
  }
  EXPECT_EQ(bytes_text(uint64_t{8} << 20), "8M");
  EXPECT_FALSE(parse_bytes("").ok());
}

}  // namespace
}  // namespace camshaft::base
