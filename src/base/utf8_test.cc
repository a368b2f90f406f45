#include "base/utf8.h"

#include <gtest/gtest.h>

namespace camshaft::base {
namespace {

struct BadCase {
  std::string_view name;
  std::string_view text;
  size_t good_prefix;
  size_t bad_length;
};

constexpr BadCase kBadCases[] = {
    {"lone continuation", "a\x80", 1, 1},
    {"overlong two", "\xC0\xAF", 0, 1},
    {"overlong three", "\xE0\x9F\xBF", 0, 1},
    {"overlong four", "\xF0\x8F\xBF\xBF", 0, 1},
    {"surrogate", "x\xED\xA0\x80", 1, 1},
    {"past the last code point", "\xF4\x90\x80\x80", 0, 1},
    {"byte that never occurs", "ab\xFF", 2, 1},
    {"five byte form", "\xF8\x88\x80\x80\x80", 0, 1},
    {"cut after one of three", "\xE2", 0, 1},
    {"cut after two of three", "\xE2\x82", 0, 2},
    {"cut after three of four", "abc\xF0\x9F\x98", 3, 3},
    {"interrupted", "\xE2\x82z", 0, 2},
    {"late in a long text", "0123456789abcdef\xC3", 16, 1},
};

TEST(Utf8Test, BadTextIsFoundAtItsFirstBadByte) {
  for (const BadCase& c : kBadCases) {
    EXPECT_EQ(utf8_valid_prefix(c.text), c.good_prefix) << c.name;
    EXPECT_FALSE(is_utf8(c.text)) << c.name;
    EXPECT_EQ(decode_utf8(c.text, c.good_prefix).length, 0u) << c.name;
    EXPECT_EQ(utf8_bad_length(c.text, c.good_prefix), c.bad_length) << c.name;
    EXPECT_TRUE(is_utf8(replace_invalid_utf8(c.text))) << c.name;
  }
}

TEST(Utf8Test, EveryScalarValueSurvivesTheRoundTrip) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    std::string text;
    append_utf8(text, value);
    const CodePoint decoded = decode_utf8(text, 0);
    ASSERT_EQ(decoded.value, value);
    ASSERT_EQ(decoded.length, text.size());
    ASSERT_TRUE(is_utf8(text));
    ASSERT_EQ(count_code_points(text), 1u);
    for (size_t cut = 1; cut < text.size(); ++cut) ASSERT_TRUE(is_incomplete_utf8(text.substr(0, cut)));
    ASSERT_FALSE(is_incomplete_utf8(text));
  }
}

TEST(Utf8Test, NoScalarValueBecomesTheReplacementCharacter) {
  for (char32_t value : {char32_t{0xD800}, char32_t{0xDFFF}, char32_t{0x110000}, char32_t{0xFFFFFFFF}}) {
    std::string text;
    append_utf8(text, value);
    EXPECT_EQ(text, "\xEF\xBF\xBD");
  }
}

TEST(Utf8Test, OneReplacementForEachBadPart) {
  EXPECT_EQ(replace_invalid_utf8("a\xF0\x9F\x98"
                                 "b\xFF\xFE"),
            "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(replace_invalid_utf8("gr\u00FC\u00DFe"), "gr\u00FC\u00DFe");
}

TEST(Utf8Test, IncompleteIsOnlyWhatCanStillBecomeACodePoint) {
  EXPECT_FALSE(is_incomplete_utf8(""));
  EXPECT_FALSE(is_incomplete_utf8("\x80"));
  EXPECT_FALSE(is_incomplete_utf8("\xE0\x80"));
  EXPECT_FALSE(is_incomplete_utf8("\xED\xA0"));
  EXPECT_FALSE(is_incomplete_utf8("\xE2z"));
  EXPECT_TRUE(is_incomplete_utf8("\xF0\x90"));
}

}  // namespace
}  // namespace camshaft::base
