#include "base/span_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace camshaft::base {
namespace {

using ::testing::HasSubstr;

constexpr std::array<std::byte, 8> kBytes = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4},
                                             std::byte{5}, std::byte{6}, std::byte{7}, std::byte{8}};

TEST(SpanReaderTest, ReadsLittleEndianInOrder) {
  SpanReader reader(kBytes, "file");
  EXPECT_EQ(*reader.read<uint16_t>("a"), 0x0201);
  EXPECT_EQ(*reader.read<uint8_t>("b"), 3);
  EXPECT_EQ(reader.read_bytes(2, "c")->size(), 2u);
  EXPECT_EQ(reader.position(), 5u);
  EXPECT_EQ(reader.remaining(), 3u);
}

TEST(SpanReaderTest, AShortReadNamesTheFieldAndMovesNothing) {
  SpanReader reader(kBytes, "model.bin");
  ASSERT_TRUE(reader.read<uint32_t>("magic").ok());
  const Status status = reader.read<uint64_t>("count").status();
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_THAT(status.message(), HasSubstr("model.bin: 'count' at byte 4 needs 8 bytes, 4 are left"));
  EXPECT_EQ(reader.position(), 4u);
  EXPECT_FALSE(reader.read_bytes(UINT64_MAX, "names").ok());
  EXPECT_EQ(*reader.read<uint32_t>("rest"), 0x08070605u);
  EXPECT_FALSE(reader.read<uint8_t>("end").ok());
}

TEST(SpanReaderTest, SkipsOnlyForwardAndInside) {
  SpanReader reader(kBytes, "file");
  EXPECT_TRUE(reader.skip_to(8, "data").ok());
  EXPECT_FALSE(reader.skip_to(7, "data").ok());
  EXPECT_FALSE(reader.skip_to(9, "data").ok());
}

TEST(SpanReaderTest, EmptySpan) {
  SpanReader reader({}, "file");
  EXPECT_EQ(reader.remaining(), 0u);
  EXPECT_TRUE(reader.read_bytes(0, "nothing").ok());
  EXPECT_FALSE(reader.read<char>("something").ok());
}

TEST(CheckedArithmeticTest, SaysWhen64BitsDoNotHoldIt) {
  uint64_t out = 0;
  EXPECT_TRUE(checked_add(UINT64_MAX - 1, 1, &out));
  EXPECT_EQ(out, UINT64_MAX);
  EXPECT_FALSE(checked_add(UINT64_MAX, 1, &out));
  EXPECT_TRUE(checked_mul(uint64_t{1} << 32, (uint64_t{1} << 32) - 1, &out));
  EXPECT_FALSE(checked_mul(uint64_t{1} << 32, uint64_t{1} << 32, &out));
}

}  // namespace
}  // namespace camshaft::base
