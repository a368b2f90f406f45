#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace camshaft::tensor {
namespace {

TEST(Half, EveryPatternRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
    } else {
      ASSERT_EQ(f32_to_f16(value), half) << bits;
    }
  }
}

TEST(Half, ValuesByDefinition) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const uint32_t exponent = bits >> 10, mantissa = bits & 1023;
    const double expected =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, static_cast<int>(exponent) - 25);
    ASSERT_EQ(f16_to_f32(static_cast<uint16_t>(bits)), expected);
  }
  EXPECT_EQ(f16_to_f32(0xfc00), -std::numeric_limits<float>::infinity());
}

TEST(Half, RoundsToNearestEven) {
  // Between neighbouring halves: below, at and above the middle.
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = f16_to_f32(static_cast<uint16_t>(bits)), high = f16_to_f32(static_cast<uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    ASSERT_EQ(f32_to_f16(middle), bits + (bits & 1));
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, low)), bits);
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, high)), bits + 1);
  }
  EXPECT_EQ(f32_to_f16(65519.99f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30f), 0xfc00);
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(std::bit_cast<float>(0x7f800001u)))));
}

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_EQ(bf16_to_f32(0xc000), -2.0f);
}

TEST(Float8, ValuesByDefinition) {
  for (uint32_t bits = 0; bits < 0x7f; ++bits) {
    const uint32_t exponent = bits >> 3, mantissa = bits & 7;
    const double expected = exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, static_cast<int>(exponent) - 10);
    EXPECT_EQ(f8e4m3_to_f32(static_cast<uint8_t>(bits)), expected);
    EXPECT_EQ(f8e4m3_to_f32(static_cast<uint8_t>(bits | 0x80)), -expected);
  }
  EXPECT_EQ(f8e4m3_to_f32(0x7e), 448.0f);
  EXPECT_TRUE(std::isnan(f8e4m3_to_f32(0x7f)));
  EXPECT_TRUE(std::isnan(f8e4m3_to_f32(0xff)));
  EXPECT_EQ(f8e5m2_to_f32(0x7b), 57344.0f);
  EXPECT_EQ(f8e5m2_to_f32(0x01), 0x1p-16f);
  EXPECT_TRUE(std::isinf(f8e5m2_to_f32(0x7c)));
  EXPECT_TRUE(std::isnan(f8e5m2_to_f32(0x7d)));
}

TEST(DTypes, SizesAndNames) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    EXPECT_GT(dtype_size(static_cast<DType>(i)), 0);
    EXPECT_NE(dtype_name(static_cast<DType>(i)), "unknown");
  }
  EXPECT_EQ(dtype_size(DType::kI64), 8);
}

}  // namespace
}  // namespace camshaft::tensor
