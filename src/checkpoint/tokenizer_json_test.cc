// tokenizer.json texts: each stage, and what is refused.
#include <gtest/gtest.h>

#include "checkpoint/checkpoint.h"

namespace camshaft::checkpoint {
namespace {

using Step = api::PreTokenizerStep;

// A byte-level tokenizer of three tokens, with parts to replace.
struct Parts {
  std::string added = R"([{"id":3,"content":"<|im_end|>","special":true}])";
  std::string normalizer = "null";
  std::string pre_tokenizer = R"({"type":"ByteLevel","add_prefix_space":false,"use_regex":true})";
  std::string post_processor = "null";
  std::string decoder = R"({"type":"ByteLevel"})";
  std::string model = R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]})";
  std::string config;

  Result<api::TokenizerSpec> read() const {
    return read_tokenizer_json("{\"added_tokens\":" + added + ",\"normalizer\":" + normalizer +
                                   ",\"pre_tokenizer\":" + pre_tokenizer + ",\"post_processor\":" + post_processor +
                                   ",\"decoder\":" + decoder + ",\"model\":" + model + "}",
                               config);
  }
};

const std::string kReplaceBlank = R"({"type":"Replace","pattern":{"String":" "},"content":"▁"})";
const std::string kSentencePieceDecoder =
    R"({"type":"Sequence","decoders":[{"type":"Replace","pattern":{"String":"▁"},"content":" "},{"type":"ByteFallback"},{"type":"Fuse"}]})";

TEST(TokenizerJson, ByteLevel) {
  Parts parts;
  parts.config = R"({"eos_token":"<|im_end|>","pad_token":{"content":"a"}})";
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->tokens, (std::vector<std::string>{"a", "b", "ab", "<|im_end|>"}));
  EXPECT_EQ(spec->kinds[3], api::TokenKind::kControl);
  EXPECT_EQ(spec->merges, (std::vector<std::pair<std::string, std::string>>{{"a", "b"}}));
  EXPECT_EQ(spec->eos, 3);
  EXPECT_EQ(spec->pad, 0);
  EXPECT_EQ(spec->end_ids, (std::vector<int32_t>{3}));
  EXPECT_EQ(spec->pre_tokenizer[0].kind, Step::Kind::kByteLevelGpt2);
}

TEST(TokenizerJson, MergesAsPairs) {
  Parts parts;
  parts.model = R"({"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[["a","b"]],"ignore_merges":true})";
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->merges.size(), 1u);
  EXPECT_TRUE(spec->ignore_merges);
}

TEST(TokenizerJson, PreTokenizerSteps) {
  Parts parts;
  parts.normalizer = R"({"type":"NFC"})";
  parts.pre_tokenizer =
      R"({"type":"Sequence","pretokenizers":[{"type":"Split","pattern":{"Regex":"\\p{N}{1,3}"},"behavior":"Isolated","invert":false},)"
      R"({"type":"Split","pattern":{"String":"a.b"},"behavior":"Isolated","invert":false},{"type":"Digits","individual_digits":true},)"
      R"({"type":"Punctuation","behavior":"Contiguous"},{"type":"Punctuation"},{"type":"ByteLevel","add_prefix_space":false,"use_regex":false}]})";
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->normalizer, api::NormalizerKind::kNfc);
  ASSERT_EQ(spec->pre_tokenizer.size(), 5u);
  EXPECT_EQ(spec->pre_tokenizer[0].pattern, R"(\p{N}{1,3})");
  EXPECT_EQ(spec->pre_tokenizer[1].pattern, R"(a\.b)");
  EXPECT_EQ(spec->pre_tokenizer[2].kind, Step::Kind::kDigits);
  EXPECT_EQ(spec->pre_tokenizer[3].kind, Step::Kind::kPunctuation);
  EXPECT_EQ(spec->pre_tokenizer[4].kind, Step::Kind::kSplitIsolated);
}

TEST(TokenizerJson, SentencePieceByNormalizer) {
  Parts parts;
  parts.normalizer = R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)" + kReplaceBlank + "]}";
  parts.pre_tokenizer = "null";
  parts.decoder = kSentencePieceDecoder;
  parts.model = R"({"type":"BPE","unk_token":"a","byte_fallback":true,"vocab":{"a":0,"<0x0A>":1,"▁":2},"merges":[]})";
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->model, api::TokenizerModel::kSentencePieceBpe);
  EXPECT_TRUE(spec->byte_fallback);
  EXPECT_TRUE(spec->add_prefix_space);
  EXPECT_TRUE(spec->prefix_space_every_segment);
  EXPECT_FALSE(spec->prefix_space_if_missing);
  EXPECT_EQ(spec->kinds[1], api::TokenKind::kByte);
  EXPECT_EQ(spec->unk, 0);
}

TEST(TokenizerJson, SentencePieceByMetaspace) {
  Parts parts;
  parts.pre_tokenizer = R"({"type":"Metaspace","replacement":"▁","prepend_scheme":"first","split":false})";
  parts.decoder = kSentencePieceDecoder;
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->model, api::TokenizerModel::kSentencePieceBpe);
  EXPECT_TRUE(spec->add_prefix_space);
  EXPECT_FALSE(spec->prefix_space_every_segment);
  EXPECT_TRUE(spec->prefix_space_if_missing);
}

TEST(TokenizerJson, SplitAtBlanksThatAreGoneIsNothing) {
  Parts parts;
  parts.normalizer = kReplaceBlank;
  parts.pre_tokenizer = R"({"type":"Split","pattern":{"String":" "},"behavior":"MergedWithPrevious","invert":false})";
  parts.decoder = kSentencePieceDecoder;
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_TRUE(spec->pre_tokenizer.empty());
  EXPECT_FALSE(spec->add_prefix_space);
}

TEST(TokenizerJson, TemplateSaysWhatIsAdded) {
  Parts parts;
  parts.added = R"([{"id":3,"content":"<s>","special":true},{"id":4,"content":"</s>","special":true}])";
  parts.post_processor =
      R"({"type":"Sequence","processors":[{"type":"ByteLevel"},{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"<s>","type_id":0}},)"
      R"({"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"</s>","type_id":0}}]}]})";
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_TRUE(spec->add_bos);
  EXPECT_EQ(spec->bos, 3);
  EXPECT_TRUE(spec->add_eos);
  EXPECT_EQ(spec->eos, 4);
}

TEST(TokenizerJson, AddBosOfTheConfigCountsWithoutATemplate) {
  Parts parts;
  parts.config = R"({"bos_token":"<|im_end|>","add_bos_token":true})";
  EXPECT_TRUE(parts.read()->add_bos);
}

TEST(TokenizerJson, HolesAreUnused) {
  Parts parts;
  parts.added = R"([{"id":6,"content":"<x>"}])";
  const auto spec = parts.read();
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(spec->tokens.size(), 7u);
  EXPECT_EQ(spec->kinds[4], api::TokenKind::kUnused);
  EXPECT_EQ(spec->kinds[6], api::TokenKind::kUserDefined);
}

struct Bad {
  std::string Parts::*part;
  std::string value;
  std::string_view message;
  Code code = Code::kDataLoss;
};

TEST(TokenizerJson, WhatIsWrongOrUnknownIsNamed) {
  constexpr Code kNot = Code::kUnimplemented;
  const std::vector<Bad> kBad = {
      {&Parts::model, "null", "'model' is missing"},
      {&Parts::model, R"({"type":"Unigram","vocab":[]})", "'Unigram'", kNot},
      {&Parts::model, R"({"type":"WordPiece","vocab":{}})", "'WordPiece'", kNot},
      {&Parts::model, R"({"type":"BPE","merges":[]})", "'vocab' is missing"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0}})", "'merges' is missing"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":-1},"merges":[]})", "has the id -1"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0.0},"merges":[]})", "a whole number from 0"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":2097152},"merges":[]})", "has the id 2097152"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":2000000},"merges":[]})", "ids reach 2000000"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0,"b":0},"merges":[]})", "id 0 belongs to two tokens"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0,"a":1},"merges":[]})", "\"a\" appears twice", Code::kInvalidArgument},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":3},"merges":[]})", "id 3 belongs to two tokens"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0},"merges":["ab"]})", "merges[0] is \"ab\""},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0},"merges":[["a"]]})", "merges[0] is"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0},"merges":[1]})", "merges[0] is 1"},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0},"merges":[],"end_of_word_suffix":"</w>"})", "end_of_word_suffix", kNot},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"?"})", "unk_token \"?\""},
      {&Parts::model, R"({"type":"BPE","vocab":{"a":0},"merges":[],"byte_fallback":1})", "'byte_fallback' is of type integer"},
      {&Parts::added, "{}", "added_tokens is of type object"},
      {&Parts::added, "[1]", "added_tokens[0]"},
      {&Parts::added, R"([{"id":3}])", "'content' is missing or empty"},
      {&Parts::added, R"([{"content":"x"}])", "has the id null"},
      {&Parts::added, R"([{"id":0,"content":"x"}])", "id 0 belongs to two tokens"},
      {&Parts::added, R"([{"id":3,"content":"a"}])", "token \"a\" has two ids"},
      {&Parts::added, R"([{"id":3,"content":"x","special":"yes"}])", "'special' is of type string"},
      {&Parts::normalizer, R"({"type":"Lowercase"})", "normalizer 'Lowercase'", kNot},
      {&Parts::normalizer, R"({"type":"Replace","pattern":{"Regex":"x"},"content":"y"})", "Replace of \"x\"", kNot},
      {&Parts::normalizer, R"({"type":"Prepend","prepend":"x"})", "Prepend of \"x\"", kNot},
      {&Parts::normalizer, R"({"type":"Sequence","normalizers":[{"type":"NFC"},{"type":"NFD"}]})", "two Unicode forms", kNot},
      {&Parts::normalizer, R"({"type":"Sequence"})", "lacks the array 'normalizers'"},
      {&Parts::normalizer, R"({})", "normalizer lacks 'type'"},
      {&Parts::pre_tokenizer, R"({"type":"Whitespace"})", "pre_tokenizer 'Whitespace'", kNot},
      {&Parts::pre_tokenizer, R"({"type":"Split","pattern":{"Regex":"x"},"behavior":"Removed"})", "Split with behavior Removed",
       kNot},
      {&Parts::pre_tokenizer, R"({"type":"Split","behavior":"Isolated"})", "needs a pattern"},
      {&Parts::pre_tokenizer, R"({"type":"Metaspace","split":true})", "Metaspace that splits", kNot},
      {&Parts::pre_tokenizer, R"({"type":"Metaspace","split":false})", "both byte-level and", kNot},
      {&Parts::pre_tokenizer, R"({"type":"Sequence","pretokenizers":[{"type":"Digits"},{"type":"ByteLevel"}]})",
       "behind another split", kNot},
      {&Parts::post_processor, R"({"type":"BertProcessing"})", "post_processor 'BertProcessing'", kNot},
      {&Parts::post_processor, R"({"type":"TemplateProcessing"})", "lacks the array 'single'"},
      {&Parts::post_processor, R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"?"}}]})", "names the token '?'"},
      {&Parts::decoder, R"({"type":"WordPiece"})", "decoder 'WordPiece'", kNot},
      {&Parts::config, R"({"eos_token":"<none>"})", "eos_token \"<none>\" is not in the vocabulary"},
      {&Parts::config, "[", "JSON", Code::kInvalidArgument},
  };
  for (const Bad& bad : kBad) {
    Parts parts;
    parts.*bad.part = bad.value;
    const Status status = parts.read().status();
    EXPECT_EQ(status.code(), bad.code) << bad.value << ": " << status.to_string();
    EXPECT_NE(status.message().find(bad.message), std::string::npos) << bad.value << ": " << status.to_string();
  }
}

TEST(TokenizerJson, NeitherKind) {
  Parts parts;
  parts.pre_tokenizer = parts.decoder = "null";
  EXPECT_NE(parts.read().status().message().find("neither byte-level nor"), std::string::npos);
}

}  // namespace
}  // namespace camshaft::checkpoint
