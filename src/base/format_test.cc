#include "base/format.h"

#include <gtest/gtest.h>

#include <limits>

namespace camshaft::base {
namespace {

enum class Colour { kRed = 7 };

TEST(FormatTest, KindsOfArguments) {
  EXPECT_EQ(format("plain {{}}"), "plain {}");
  EXPECT_EQ(format("{} {} {}", true, 'x', "text"), "true x text");
  EXPECT_EQ(format("{} {}", std::string("a"), std::string_view("b")), "a b");
  EXPECT_EQ(format("{} {}", std::numeric_limits<int64_t>::min(), std::numeric_limits<uint64_t>::max()),
            "-9223372036854775808 18446744073709551615");
  EXPECT_EQ(format("{} {} {}", int8_t{-3}, uint8_t{200}, Colour::kRed), "-3 200 7");
  EXPECT_EQ(format("{:.2f} {}", 1.005f, 0.1), "1.00 0.1");
  EXPECT_EQ(format("{:#x} {:>4} {:<4}|", 255, 7, "ab"), "0xff    7 ab  |");
}

TEST(FormatTest, AMalformedPatternComesBackAsItIs) {
  EXPECT_EQ(format("{", 1), "{");
  EXPECT_EQ(format("{} {}", 1), "{} {}");
  EXPECT_EQ(format("{:d}", "text"), "{:d}");
}

}  // namespace
}  // namespace camshaft::base
