#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace camshaft::base {
namespace {

using ::testing::HasSubstr;

// What is read and how it is written again; no second text means the same.
struct RoundTrip {
  std::string_view text;
  std::string_view written = {};
};

constexpr RoundTrip kRoundTrips[] = {
    {"null"},
    {"true"},
    {" [ false , 1 ] ", "[false,1]"},
    {"0"},
    {"-0", "0"},
    {"-0.0"},
    {"9223372036854775807"},
    {"-9223372036854775808"},
    {"9223372036854775808"},
    {"18446744073709551615"},
    {"18446744073709551616", "18446744073709551616.0"},
    {"-9223372036854775809", "-9223372036854775808.0"},
    {"1.0"},
    {"1e2", "100.0"},
    {"0.1"},
    {"5e-324"},
    {"1.7976931348623157e+308"},
    {"1e-400", "0.0"},
    {R"("")"},
    {R"("a\"b\\c\/d\b\f\n\r\t")", R"("a\"b\\c/d\b\f\n\r\t")"},
    {R"("\u0000\u001f\u007f")", "\"\\u0000\\u001f\x7f\""},
    {R"("\u00e9\ud83d\ude00")", "\"\u00e9\U0001F600\""},
    {R"("\u0085\u2028\u2029\u0086\u2027")", "\"\\u0085\\u2028\\u2029\xC2\x86\u2027\""},
    {R"({"b":1,"a":{"b":[]},"":{}})"},
    {"\xEF\xBB\xBF{}", "{}"},
};

TEST(JsonTest, ReadsAndWrites) {
  for (const RoundTrip& c : kRoundTrips) {
    const Result<Json> value = parse_json(c.text);
    ASSERT_TRUE(value.ok()) << c.text << ": " << value.status().to_string();
    const std::string written = value->dump();
    EXPECT_EQ(written, c.written.empty() ? c.text : c.written);
    const Result<Json> again = parse_json(written);
    ASSERT_TRUE(again.ok()) << written;
    EXPECT_TRUE(*again == *value) << written;
  }
}

struct BadText {
  std::string_view text;
  std::string_view place;
  std::string_view reason;
};

constexpr BadText kBadTexts[] = {
    {"", "line 1, column 1", "unexpected end of input"},
    {"[1,", "line 1, column 4", "unexpected end of input"},
    {"[1] x", "line 1, column 5", "invalid literal"},
    {"[1]]", "line 1, column 4", "unexpected ']'"},
    {"[01]", "line 1, column 3", "unexpected number literal"},
    {"[+1]", "line 1, column 2", "invalid literal"},
    {"[1.]", "line 1, column 4", "invalid number"},
    {"[NaN]", "line 1, column 2", "invalid literal"},
    {"[1,]", "line 1, column 4", "unexpected ']'"},
    {"{\"a\":1,}", "line 1, column 8", "unexpected '}'"},
    {"{a:1}", "line 1, column 2", "invalid literal"},
    {"['a']", "line 1, column 2", "invalid literal"},
    {"[1] // no", "line 1, column 5", "invalid literal"},
    {"\n\n  [1e999]", "line 3, column 8", "too large for a double"},
    {"\"\u00e9\u00e9\x01\"", "line 1, column 4", "control character"},
    {R"("\x")", "line 1, column 3", "invalid string"},
    {R"("\ud800")", "line 1, column 8", "surrogate"},
    {R"("\udc00x")", "line 1, column 7", "surrogate"},
    {R"("\u12g4")", "line 1, column 6", "4 hex digits"},
    {"[\n\"a\", \"\xC3\x28\"]", "line 2, column 7", "0xc3 is not valid UTF-8"},
    {"{\"a\":1,\n \"b\":2, \"a\":3}", "line 2, column 11", "key \"a\" appears twice"},
    {"[{\"x\":{\"k\":1},\"k\":2,\"x\":{\"k\":1}}]", "line 1, column 23", "key \"x\" appears twice"},
};

TEST(JsonTest, RefusesWithPlaceAndReason) {
  for (const BadText& c : kBadTexts) {
    const Result<Json> value = parse_json(c.text);
    ASSERT_FALSE(value.ok()) << c.text;
    EXPECT_EQ(value.status().code(), Code::kInvalidArgument) << c.text;
    EXPECT_THAT(value.status().message(), HasSubstr(c.place)) << c.text;
    EXPECT_THAT(value.status().message(), HasSubstr(c.reason)) << c.text;
  }
}

TEST(JsonTest, ErrorsDoNotRepeatTheText) {
  const Status status = parse_json("[\"ok\", secretword]").status();
  EXPECT_THAT(status.message(), ::testing::Not(HasSubstr("secretword")));
}

std::string nested(size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); }

TEST(JsonTest, DepthLimit) {
  const JsonLimits limits{.max_depth = 5};
  EXPECT_TRUE(parse_json(nested(5), limits).ok());
  const Status status = parse_json(nested(6), limits).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("line 1, column 6: nested deeper than the 5 levels"));
  EXPECT_FALSE(parse_json(std::string(1'000'000, '[')).ok());
  EXPECT_TRUE(parse_json("1", {.max_depth = 0}).ok());
}

TEST(JsonTest, ValueLimitCountsContainersToo) {
  const JsonLimits limits{.max_values = 4};
  EXPECT_TRUE(parse_json("[1,{\"a\":2}]", limits).ok());
  const Status status = parse_json("[1,{\"a\":2},3]", limits).status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("more than the 4 values"));
}

TEST(JsonTest, ByteLimit) {
  const JsonLimits limits{.max_bytes = 3};
  EXPECT_TRUE(parse_json("[1]", limits).ok());
  EXPECT_EQ(parse_json("[10]", limits).status().code(), Code::kResourceExhausted);
}

TEST(JsonTest, KindsOfNumbers) {
  EXPECT_EQ(parse_json("5")->kind(), Json::Kind::kInt);
  EXPECT_EQ(parse_json("-5")->kind(), Json::Kind::kInt);
  EXPECT_EQ(parse_json("9223372036854775808")->kind(), Json::Kind::kUint);
  EXPECT_EQ(parse_json("5.0")->kind(), Json::Kind::kDouble);
  EXPECT_EQ(Json(uint64_t{5}).kind(), Json::Kind::kInt);
  EXPECT_TRUE(Json(uint64_t{5}) == Json(5));
  EXPECT_EQ(Json(UINT64_MAX).as_double(), 18446744073709551616.0);
  EXPECT_EQ(parse_json("5")->kind_name(), "integer");
  EXPECT_EQ(parse_json("5.5")->kind_name(), "number");
}

TEST(JsonTest, MembersKeepTheirOrderAndAreFound) {
  Json object;
  object.set("z", 1);
  object.set("a", "text");
  object.set("z", Json(JsonArray{true, nullptr}));
  EXPECT_EQ(object.dump(), R"({"z":[true,null],"a":"text"})");
  ASSERT_NE(object.find("a"), nullptr);
  EXPECT_EQ(object.find("a")->as_string(), "text");
  EXPECT_EQ(object.find("b"), nullptr);
  EXPECT_EQ(Json(3).find("a"), nullptr);
}

TEST(JsonTest, PrettyText) {
  EXPECT_EQ(parse_json(R"({"a":[1,{}],"b":[]})")->dump_pretty(2), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

TEST(JsonTest, NonFiniteDoublesBecomeNull) {
  EXPECT_EQ(Json(JsonArray{std::nan(""), std::numeric_limits<double>::infinity()}).dump(), "[null,null]");
}

TEST(JsonTest, ManyKeysAreCheckedForDuplicatesInShortTime) {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += "\"key" + std::to_string(i) + "\":" + std::to_string(i) + ",";
  const Result<Json> unique = parse_json(text + "\"last\":0}");
  ASSERT_TRUE(unique.ok());
  EXPECT_EQ(unique->as_object().size(), 50'001u);
  EXPECT_THAT(parse_json(text + "\"key77\":0}").status().message(), HasSubstr("key \"key77\" appears twice"));
}

}  // namespace
}  // namespace camshaft::base
