#include <gtest/gtest.h>

#include "ops/op.h"

namespace camshaft::ops {
namespace {

struct Line {
  const char* op;
  const char* text;
};

// Canonical: what is read is written again, letter by letter.
const std::vector<Line> kCanonical = {
    {"embedding", "vocab=49152 hidden=576 weight=q8_0"},
    {"rms_norm", "hidden=576 eps=1e-05"},
    {"add_rms_norm", "hidden=576 eps=1e-06"},
    {"gemm", "n=576 k=1536 weight=i4b32m activation=i8b32"},
    {"gemm", "n=1 k=1 weight=f32 activation=bf16 bias=true"},
    {"add", "columns=576"},
    {"mul", "columns=576"},
    {"silu", "columns=576"},
    {"swiglu", "columns=1536"},
    {"swiglu", "columns=1536 merged=true"},
    {"slice", "begin=0 columns=576"},
    {"rope", "heads=9 head_dim=64 rotary_dim=64 pairs=interleaved theta=100000"},
    {"rope", "heads=9 head_dim=64 rotary_dim=32 pairs=halves theta=500000 scaling=llama3 factor=8 original_context=8192"},
    {"rope",
     "heads=1 head_dim=8 rotary_dim=8 pairs=halves theta=0.1 scaling=yarn factor=2.5 original_context=7 beta_fast=31 beta_slow=1.5 "
     "attention_factor=1.0916290731874154 freq_factors=1,1.1,3.4028235e+38,1e-45"},
    {"rope", "heads=1 head_dim=2 rotary_dim=2 pairs=halves theta=1e+300 scaling=linear factor=4"},
    {"rope", "heads=1 head_dim=2 rotary_dim=2 pairs=halves theta=1 scaling=dynamic factor=4 original_context=2048"},
    {"kv_write", "layer=29 kv_heads=3 head_dim=64"},
    {"rope_kv_write", "heads=9 layer=0 kv_heads=3 head_dim=64 rotary_dim=64 pairs=halves theta=100000"},
    {"attention", "heads=9 layer=0 kv_heads=3 head_dim=64 scale=0.125"},
    {"attention", "heads=9 layer=0 kv_heads=3 head_dim=80 scale=0.1118034"},
    {"gather_rows", "columns=576"},
    {"concat_rows", ""},
};

TEST(DescText, CanonicalTextReadsAndWrites) {
  for (const Line& line : kCanonical) {
    const auto desc = parse_desc(*parse_op(line.op), line.text);
    ASSERT_TRUE(desc.ok()) << line.text << ": " << desc.status().message();
    EXPECT_EQ(op_name(op_kind(*desc)), line.op);
    EXPECT_EQ(desc_text(*desc), line.text);
    EXPECT_EQ(*parse_desc(op_kind(*desc), desc_text(*desc)), *desc);
  }
}

TEST(DescText, AnyOrderAndSpacing) {
  const auto desc = parse_desc(OpKind::kGemm, "  activation=f32   k=2 weight=f32 bias=false n=1 ");
  ASSERT_TRUE(desc.ok());
  EXPECT_EQ(desc_text(*desc), "n=1 k=2 weight=f32 activation=f32");
}

TEST(DescText, FloatsAreExact) {
  RmsNormDesc norm{7, 0x1.fffffep-20f};
  EXPECT_EQ(*parse_desc(OpKind::kRmsNorm, desc_text(norm)), OpDesc(norm));
  RopeDesc rope{1, {.head_dim = 2, .rotary_dim = 2, .theta = 0x1.fffffffffffffp+12, .freq_factors = {0.1f}}};
  EXPECT_EQ(*parse_desc(OpKind::kRope, desc_text(rope)), OpDesc(rope));
}

TEST(DescText, Refusals) {
  const std::vector<std::pair<Line, const char*>> cases = {
      {{"gemm", "n=1"}, "gemm: 'k' is missing"},
      {{"add", ""}, "add: 'columns' is missing"},
      {{"add", "columns"}, "add: 'columns' is not of the form name=value"},
      {{"add", "columns=1 columns=2"}, "add: 'columns' is given twice"},
      {{"add", "columns=1 rows=2"}, "add: no field is named 'rows'"},
      {{"add", "columns=1.5"}, "add: '1.5' cannot be read as a value of columns"},
      {{"add", "columns=99999999999999999999"}, "add: '99999999999999999999' cannot be read as a value of columns"},
      {{"rms_norm", "hidden=1 eps=nan"}, "rms_norm: 'nan' cannot be read as a value of eps"},
      {{"rms_norm", "hidden=1 eps=inf"}, "rms_norm: 'inf' cannot be read as a value of eps"},
      {{"swiglu", "columns=1 merged=1"}, "swiglu: '1' cannot be read as a value of merged"},
      {{"gemm", "n=1 k=1 weight=q9 activation=f32"}, "gemm: 'q9' cannot be read as a value of weight"},
      {{"rope", "heads=1 head_dim=2 rotary_dim=2 pairs=both theta=1"}, "rope: 'both' cannot be read as a value of pairs"},
      {{"rope", "heads=1 head_dim=2 rotary_dim=2 pairs=halves theta=1 freq_factors=1,,2"},
       "rope: '1,,2' cannot be read as a value of freq_factors"},
      {{"concat_rows", "a=1"}, "concat_rows: no field is named 'a'"},
  };
  for (const auto& [line, message] : cases) EXPECT_EQ(parse_desc(*parse_op(line.op), line.text).status().message(), message);
}

}  // namespace
}  // namespace camshaft::ops
