#include "tensor/quant_format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

namespace camshaft::tensor {
namespace {

std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(Formats, ListIsCompleteAndInOrder) {
  ASSERT_EQ(all_formats().size(), static_cast<size_t>(Format::kBool) + 1);
  for (size_t i = 0; i < all_formats().size(); ++i) {
    const FormatInfo& info = all_formats()[i];
    EXPECT_EQ(static_cast<size_t>(info.format), i);
    EXPECT_NE(info.unpack, nullptr);
    EXPECT_EQ(parse_format(info.name).value(), info.format);
    EXPECT_EQ(format_bytes(info.format, 3 * info.block_elements), 3 * info.block_bytes);
  }
}

TEST(Formats, UnknownNameIsRefusedWithTheKnownOnes) {
  const Status status = parse_format("q3_k").status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("'q3_k'"), std::string::npos);
  EXPECT_NE(status.message().find("q6_k"), std::string::npos);
}

// Bit for bit what the gguf package computes.
TEST(Formats, UnpackEqualsTheOracle) {
  std::ifstream file(CAMSHAFT_SOURCE_DIR "/tests/golden/quant_vectors.txt");
  ASSERT_TRUE(file) << "tests/golden/quant_vectors.txt is missing";
  std::string line;
  int cases = 0;
  while (std::getline(file, line)) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string name, blocks_hex, values_hex;
    words >> name >> blocks_hex >> values_hex;
    const std::vector<std::byte> blocks = from_hex(blocks_hex), expected = from_hex(values_hex);
    std::vector<float> values(expected.size() / 4);
    const FormatInfo& info = format_info(parse_format(name).value());
    ASSERT_EQ(format_bytes(info.format, static_cast<int64_t>(values.size())), static_cast<int64_t>(blocks.size()));
    info.unpack(blocks.data(), values.data(), static_cast<int64_t>(values.size()));
    EXPECT_EQ(std::memcmp(values.data(), expected.data(), expected.size()), 0) << name;
    ++cases;
  }
  EXPECT_EQ(cases, 8);
}

TEST(Formats, PlainIntegersAndDoubles) {
  const int8_t i8[] = {-128, 127};
  const uint64_t u64[] = {uint64_t{1} << 40, 3};
  const double f64[] = {-0.5, 1e300};
  float out[2];
  format_info(Format::kI8).unpack(std::as_bytes(std::span(i8)).data(), out, 2);
  EXPECT_EQ(out[0], -128.0f);
  EXPECT_EQ(out[1], 127.0f);
  format_info(Format::kU64).unpack(std::as_bytes(std::span(u64)).data(), out, 2);
  EXPECT_EQ(out[0], 0x1p40f);
  format_info(Format::kF64).unpack(std::as_bytes(std::span(f64)).data(), out, 1);
  EXPECT_EQ(out[0], -0.5f);
}

struct Block {
  std::vector<float> values, back;
  std::vector<std::byte> bytes;
};

Block round_trip(const FormatInfo& info, std::vector<float> values) {
  Block block{std::move(values), {}, {}};
  const auto n = static_cast<int64_t>(block.values.size());
  block.back.resize(block.values.size());
  block.bytes.resize(static_cast<size_t>(format_bytes(info.format, n)));
  info.pack(block.values.data(), block.bytes.data(), n);
  info.unpack(block.bytes.data(), block.back.data(), n);
  return block;
}

double measure(const FormatInfo& info, const Block& block) {
  const auto [low, high] = std::minmax_element(block.values.begin(), block.values.end());
  const double size = info.format == Format::kI4B32M ? *high - *low : std::max(std::fabs(*low), std::fabs(*high));
  double error = 0;
  for (size_t i = 0; i < block.values.size(); ++i) error = std::max(error, std::fabs(double{block.values[i]} - block.back[i]));
  return size > 0 ? error / size : error;
}

TEST(Formats, RoundTripStaysWithinTheStatedBound) {
  std::mt19937 random(5);
  for (const FormatInfo& info : all_formats()) {
    if (info.pack == nullptr) continue;
    double worst = 0;
    for (int trial = 0; trial < 3000; ++trial) {
      std::normal_distribution<float> normal(0, std::exp2(static_cast<float>(trial % 10) - 4.0f));
      std::vector<float> values(static_cast<size_t>(info.block_elements));
      for (float& value : values) value = normal(random);
      worst = std::max(worst, measure(info, round_trip(info, values)));
    }
    EXPECT_LE(worst, info.relative_error_bound) << info.name;
    EXPECT_GE(worst, info.relative_error_bound * 0.7) << info.name << ": the bound is loose";
  }
}

TEST(Formats, OursShareTheBytesOfGgmlsFormats) {
  std::vector<float> values(32);
  for (int i = 0; i < 32; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i) - 16.0f;
  const Block int4 = round_trip(format_info(Format::kI4B32M), values);
  std::vector<float> back(32);
  format_info(Format::kQ4_1).unpack(int4.bytes.data(), back.data(), 32);
  EXPECT_EQ(back, int4.back);
  EXPECT_EQ(std::to_integer<int>(int4.bytes[4]) & 15, 0);    // element 0 is the minimum
  EXPECT_EQ(std::to_integer<int>(int4.bytes[19]) >> 4, 15);  // element 31 the maximum
  const Block int8 = round_trip(format_info(Format::kI8B32), values);
  format_info(Format::kQ8_0).unpack(int8.bytes.data(), back.data(), 32);
  EXPECT_EQ(back, int8.back);
  EXPECT_EQ(static_cast<int8_t>(int8.bytes[2]), -127);
}

TEST(Formats, PackSurvivesExtremes) {
  for (const Format format : {Format::kI8B32, Format::kI4B32M}) {
    const FormatInfo& info = format_info(format);
    for (const float value : {0.0f, 1e-30f, -1e-7f, 3e38f, -3e38f}) {
      const Block block = round_trip(info, std::vector<float>(32, value));
      for (const float back : block.back) EXPECT_TRUE(std::isfinite(back)) << info.name << " of " << value;
    }
    EXPECT_EQ(round_trip(info, std::vector<float>(32, 0.0f)).back, std::vector<float>(32, 0.0f));
  }
}

}  // namespace
}  // namespace camshaft::tensor
