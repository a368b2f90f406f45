// The hand-written scanners against PCRE2 running the very patterns, on random texts.
#include "text/pre_tokenizer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/utf8.h"

namespace camshaft::text {
namespace {

using Scanner = PreTokenizer::Scanner;
using Step = api::PreTokenizerStep;

std::vector<std::string> cut(const PreTokenizer& pre, std::string_view text) {
  PreTokenizer::Scratch scratch(pre);
  EXPECT_TRUE(pre.cut(text, scratch).ok());
  std::vector<std::string> words;
  uint32_t begin = 0;
  for (const uint32_t end : scratch.ends) {
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

PreTokenizer make(std::vector<Step> steps) {
  auto pre = PreTokenizer::make(steps);
  EXPECT_TRUE(pre.ok()) << pre.status().to_string();
  return std::move(*pre);
}
PreTokenizer split(const std::string& pattern) { return make({{Step::Kind::kSplitIsolated, pattern, true}}); }

std::string random_text(std::mt19937& random) {
  constexpr char32_t kPool[] = {' ',    ' ',    ' ',    '\n',  '\r',  '\t',   '\'',    '\'',   's',   'S',  't',
                                'R',    'e',    'l',    'L',   'v',   'a',    'z',     '0',    '9',   '5',  '.',
                                '!',    '_',    '$',    0x17F, 0xE9,  0x416,  0x4E2D,  0x301,  0xA0,  0x85, 0x2003,
                                0x2028, 0x3000, 0x180E, 0xBD,  0x663, 0x2167, 0x1F680, 0x200D, 0x61C, 0x7F, 1};
  std::string text;
  const size_t count = random() % 24;
  for (size_t i = 0; i < count; ++i) base::append_utf8(text, kPool[random() % std::size(kPool)]);
  return text;
}

// "(?:)" in front changes nothing but the pattern's text, so PCRE2 runs it.
void compare_with_pcre(const std::string& pattern, Scanner scanner) {
  const PreTokenizer own = split(pattern);
  ASSERT_EQ(own.scanner(0), scanner) << pattern;
  const PreTokenizer pcre = split("(?:)(?:" + pattern + ")");
  ASSERT_EQ(pcre.scanner(0), Scanner::kRegex);
  std::mt19937 random(7);
  for (int i = 0; i < 4000; ++i) {
    const std::string text = random_text(random);
    ASSERT_EQ(cut(own, text), cut(pcre, text)) << pattern << " on: " << text;
  }
}

TEST(PreTokenizerTest, Gpt2IsPcre) {
  compare_with_pcre(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", Scanner::kGpt2);
  compare_with_pcre(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))", Scanner::kGpt2);
}

TEST(PreTokenizerTest, Llama3AndQwen2ArePcre) {
  const std::string tail = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  for (const char* head : {R"((?i:'s|'t|'re|'ve|'m|'ll|'d))", R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]))"}) {
    for (const char* digits : {R"(\p{N}{1,3})", R"(\p{N})", R"(\p{N}+)"}) {
      compare_with_pcre(std::string(head) + R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)" + digits + tail, Scanner::kCl100k);
    }
  }
}

TEST(PreTokenizerTest, DigitsIsPcre) {
  const PreTokenizer own = make({{Step::Kind::kDigits, "", true}});
  const PreTokenizer pcre = split(R"(\p{N})");
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random);
    ASSERT_EQ(cut(own, text), cut(pcre, text)) << text;
  }
}

TEST(PreTokenizerTest, LaterStepsDoNotSeePastAPiece) {
  const PreTokenizer pre = make({{Step::Kind::kDigits, "", true}, {Step::Kind::kByteLevelGpt2, "", true}});
  EXPECT_EQ(cut(pre, "ab  12 x"), (std::vector<std::string>{"ab", "  ", "1", "2", " x"}));
}

TEST(PreTokenizerTest, PunctuationRuns) {
  EXPECT_EQ(cut(make({{Step::Kind::kPunctuation, "", true}}), "ab,.c!"), (std::vector<std::string>{"ab", ",.", "c", "!"}));
}

TEST(PreTokenizerTest, BadPatternIsNamed) {
  const auto pre = PreTokenizer::make({{Step::Kind::kSplitIsolated, "(", true}});
  ASSERT_FALSE(pre.ok());
  EXPECT_NE(pre.status().message().find("'('"), std::string::npos);
}

// Backtracking without end is cut off by the match limit.
TEST(PreTokenizerTest, CostlyPatternGivesUp) {
  const PreTokenizer pre = split("(?:(?:a+)+)+[bc]");
  PreTokenizer::Scratch scratch(pre);
  EXPECT_EQ(pre.cut(std::string(4000, 'a'), scratch).code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace camshaft::text
