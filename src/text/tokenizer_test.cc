// Encoding and decoding on small vocabularies: added tokens, spans, prefixes, fallbacks, refusals, long input.
#include "text/tokenizer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "text/detokenizer.h"
#include "text/tokenizer_test_specs.h"

namespace camshaft::text {
namespace {

using Ids = std::vector<int32_t>;
using Show = Tokenizer::ShowSpecial;

constexpr int32_t kHello = 259, kIm = 264, kImX = 265, kTool = 266;  // tiny_byte_level()

Tokenizer make(api::TokenizerSpec spec) {
  auto made = Tokenizer::make(std::move(spec));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return std::move(*made);
}

Ids ids(const Tokenizer& tokenizer, std::string_view text, SpecialParsing parsing = SpecialParsing::kOn) {
  const auto result = tokenizer.encode(text, SpecialAdding::kOff, parsing);
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return result.ok() ? *result : Ids();
}

Ids bytes(std::string_view text) { return Ids(text.begin(), text.end()); }

Ids spans(const Tokenizer& tokenizer, const std::vector<Span>& all) {
  const auto result = tokenizer.encode_spans(all, SpecialAdding::kOff);
  EXPECT_TRUE(result.ok());
  return result.ok() ? *result : Ids();
}
Span from_template(std::string text) { return {Span::Origin::kTemplate, std::move(text)}; }
Span content(std::string text) { return {Span::Origin::kContent, std::move(text)}; }

TEST(TokenizerTest, MergesByRank) {
  const Tokenizer t = make(tiny_byte_level());
  EXPECT_EQ(ids(t, "hello"), Ids{kHello});
  EXPECT_EQ(ids(t, "hel"), (Ids{256, 'l'}));
  EXPECT_EQ(ids(t, "\u00E9"), Ids{263});
}

TEST(TokenizerTest, ControlTokensOnlyWhereParsed) {
  const Tokenizer t = make(tiny_byte_level());
  EXPECT_EQ(ids(t, "a<|im|>b"), (Ids{'a', kIm, 'b'}));
  EXPECT_EQ(ids(t, "<|im|>x"), Ids{kImX});  // the longest
  EXPECT_EQ(ids(t, "<|im|>", SpecialParsing::kOff), bytes("<|im|>"));
  EXPECT_EQ(ids(t, "aTOOLa", SpecialParsing::kOff), (Ids{'a', kTool, 'a'}));
}

TEST(TokenizerTest, ContentNeverMakesControlTokens) {
  const Tokenizer t = make(tiny_byte_level());
  EXPECT_EQ(spans(t, {from_template("<|im|>"), content("<|im|>")}), (Ids{kIm, '<', '|', 'i', 'm', '|', '>'}));
  EXPECT_EQ(spans(t, {from_template("<|im"), content("|>")}), bytes("<|im|>"));
  // The longer match would reach into content; the shorter one stands.
  EXPECT_EQ(spans(t, {from_template("<|im|>"), content("x")}), (Ids{kIm, 'x'}));
  EXPECT_EQ(spans(t, {from_template("<|i"), from_template("m|>")}), Ids{kIm});
}

TEST(TokenizerTest, WordsAndUserTokensSpanBorders) {
  const Tokenizer t = make(tiny_byte_level());
  EXPECT_EQ(spans(t, {from_template("he"), content("llo")}), Ids{kHello});
  EXPECT_EQ(spans(t, {from_template("TO"), content("OL")}), Ids{kTool});
}

TEST(TokenizerTest, StripAndSingleWord) {
  api::TokenizerSpec spec = tiny_byte_level();
  spec.added[0].lstrip = spec.added[0].rstrip = true;
  spec.added[2].single_word = true;
  const Tokenizer t = make(spec);
  EXPECT_EQ(ids(t, "b \n<|im|> \u3000b"), (Ids{'b', kIm, 'b'}));
  EXPECT_EQ(ids(t, "bTOOL"), bytes("bTOOL"));
  EXPECT_EQ(ids(t, "b TOOL."), (Ids{'b', ' ', kTool, '.'}));
}

TEST(TokenizerTest, NormalForm) {
  api::TokenizerSpec spec = tiny_byte_level();
  spec.normalizer = api::NormalizerKind::kNfc;
  EXPECT_EQ(ids(make(spec), "e\u0301"), Ids{263});
}

TEST(TokenizerTest, BosAndEos) {
  api::TokenizerSpec spec = tiny_byte_level();
  spec.bos = kIm;
  spec.eos = kImX;
  spec.add_bos = spec.add_eos = true;
  const auto got = make(spec).encode("", SpecialAdding::kOn, SpecialParsing::kOn);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(*got, (Ids{kIm, kImX}));
}

TEST(TokenizerTest, SentencePieceByScores) {
  const Tokenizer t = make(tiny_sentencepiece());
  EXPECT_EQ(ids(t, "ab"), Ids{261});               // U+2581 a first, then b: the piece with both
  EXPECT_EQ(ids(t, " c"), (Ids{260, 265}));        // two blanks
  EXPECT_EQ(ids(t, "d"), (Ids{264, 2 + 'd'}));     // byte
  EXPECT_EQ(ids(t, "a<s>b"), (Ids{258, 1, 263}));  // the prefix comes only once
  EXPECT_EQ(ids(t, ""), Ids{});
}

TEST(TokenizerTest, SentencePiecePrefixRules) {
  api::TokenizerSpec spec = tiny_sentencepiece();
  spec.prefix_space_every_segment = true;
  EXPECT_EQ(ids(make(spec), "a<s>b"), (Ids{258, 1, 264, 263}));
  spec.prefix_space_if_missing = true;
  EXPECT_EQ(ids(make(spec), " a"), Ids{258});
  spec.collapse_spaces = true;
  EXPECT_EQ(ids(make(spec), "  a   a "), (Ids{258, 258}));
}

TEST(TokenizerTest, UnknownCharactersFuse) {
  api::TokenizerSpec spec = tiny_sentencepiece();
  spec.byte_fallback = false;
  EXPECT_EQ(ids(make(spec), "xya"), (Ids{264, 0, 262}));
  spec.unk.reset();
  EXPECT_EQ(make(spec).encode("x", SpecialAdding::kOff, SpecialParsing::kOn).status().code(), Code::kInvalidArgument);
}

TEST(TokenizerTest, InvalidUtf8NamesTheByte) {
  const auto got = make(tiny_byte_level()).encode("ab\xFFz", SpecialAdding::kOff, SpecialParsing::kOn);
  ASSERT_EQ(got.status().code(), Code::kInvalidArgument);
  EXPECT_NE(got.status().message().find("byte 2"), std::string::npos);
}

TEST(TokenizerTest, BadSpecsAreNamed) {
  const auto message = [](api::TokenizerSpec spec) { return Tokenizer::make(std::move(spec)).status().message(); };
  api::TokenizerSpec spec = tiny_byte_level();
  spec.merges.emplace_back("q", "q");
  EXPECT_NE(message(spec).find("'qq' is not in the vocabulary"), std::string::npos);
  spec = tiny_byte_level();
  spec.bos = 100000;
  EXPECT_NE(message(spec).find("BOS"), std::string::npos);
  spec = tiny_byte_level();
  spec.kinds.pop_back();
  EXPECT_NE(message(spec).find("token kinds"), std::string::npos);
  spec = tiny_sentencepiece();
  spec.scores.pop_back();
  EXPECT_NE(message(spec).find("scores"), std::string::npos);
  EXPECT_NE(message({}).find("empty"), std::string::npos);
}

// One word of 1 MiB: seconds would mean quadratic time (minutes, hours); the sanitizers cost most of what is allowed here.
TEST(TokenizerTest, LongWordsAreNotQuadratic) {
  const auto start = std::chrono::steady_clock::now();
  for (const Tokenizer& t : {make(tiny_byte_level()), make(tiny_sentencepiece())}) {
    EXPECT_GT(ids(t, std::string(1 << 20, 'a')).size(), 200000u);
    ids(t, std::string(1 << 20, ' '));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(TokenizerTest, LongRunsOfMarksNormaliseInTime) {
  api::TokenizerSpec spec = tiny_byte_level();
  spec.normalizer = api::NormalizerKind::kNfc;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "\u0301\u0323";
  EXPECT_GT(ids(make(spec), text).size(), 100000u);
}

TEST(DetokenizerTest, WholeCodePointsOnly) {
  const Tokenizer t = make(tiny_byte_level());
  Detokenizer d(t, Show::kNo, Detokenizer::Start::kTextStart);
  EXPECT_EQ(d.push(0xF0), "");
  EXPECT_EQ(d.push(0x9F), "");
  EXPECT_EQ(d.push(kIm), "");  // hidden, so it does not come between
  EXPECT_EQ(d.push(0x9A), "");
  EXPECT_EQ(d.push(0x80), "\U0001F680");
  EXPECT_EQ(d.push(0xE2), "");
  EXPECT_EQ(d.push('a'), "\uFFFDa");
  EXPECT_EQ(d.push(0xE2), "");
  EXPECT_EQ(d.finish(), "\uFFFD");
  EXPECT_EQ(d.finish(), "");
}

TEST(DetokenizerTest, LeadingBlank) {
  const Tokenizer t = make(tiny_sentencepiece());
  EXPECT_EQ(t.decode(Ids{1, 258, 258}, Show::kNo), "a a");
  EXPECT_EQ(t.decode(Ids{1, 258}, Show::kYes), "<s> a");
  Detokenizer d(t, Show::kNo, Detokenizer::Start::kMidText);
  EXPECT_EQ(d.push(258), " a");
}

TEST(DetokenizerTest, IdsOutsideTheVocabularyHaveNoText) {
  const Tokenizer t = make(tiny_byte_level());
  EXPECT_EQ(t.decode(Ids{-1, 'a', 100000}, Show::kYes), "a");
}

}  // namespace
}  // namespace camshaft::text
