// Shape cases as text: op fields | input types > output types, or ! the error.
#include <gtest/gtest.h>

#include <sstream>

#include "base/format.h"
#include "ops/op.h"

namespace camshaft::ops {
namespace {

struct Case {
  const char* op;
  const char* fields;
  std::vector<const char*> inputs;
  const char* expected;  // output types joined by "; ", or the error's message
};

const std::vector<Case> kGood = {
    {"embedding", "vocab=100 hidden=64 weight=q8_0", {"ids [T]", "weight q8_0 [100, 64]"}, "f32 [T, 64]"},
    {"rms_norm", "hidden=64 eps=1e-05", {"f32 [R, 64]", "weight f32 [64]"}, "f32 [R, 64]"},
    {"add_rms_norm", "hidden=64 eps=1e-05", {"f32 [T, 64]", "f32 [T, 64]", "weight f32 [64]"}, "f32 [T, 64]; f32 [T, 64]"},
    {"gemm", "n=96 k=64 weight=q4_1 activation=i8b32", {"f32 [T, 64]", "weight q4_1 [96, 64]"}, "f32 [T, 96]"},
    {"gemm",
     "n=96 k=64 weight=bf16 activation=f32 bias=true",
     {"f32 [R, 64]", "weight bf16 [96, 64]", "weight f32 [96]"},
     "f32 [R, 96]"},
    {"add", "columns=64", {"f32 [T, 64]", "f32 [T, 64]"}, "f32 [T, 64]"},
    {"mul", "columns=64", {"f32 [T, 64]", "f32 [T, 64]"}, "f32 [T, 64]"},
    {"silu", "columns=64", {"f32 [T, 64]"}, "f32 [T, 64]"},
    {"swiglu", "columns=64", {"f32 [T, 64]", "f32 [T, 64]"}, "f32 [T, 64]"},
    {"swiglu", "columns=64 merged=true", {"f32 [T, 128]"}, "f32 [T, 64]"},
    {"slice", "begin=32 columns=32", {"f32 [T, 64]"}, "f32 [T, 32]"},
    {"rope", "heads=4 head_dim=16 rotary_dim=16 pairs=halves theta=10000", {"f32 [T, 64]"}, "f32 [T, 64]"},
    {"kv_write", "layer=3 kv_heads=2 head_dim=16", {"f32 [T, 32]", "f32 [T, 32]"}, "kv [3, 2, 16]"},
    {"rope_kv_write",
     "heads=4 layer=3 kv_heads=2 head_dim=16 rotary_dim=8 pairs=interleaved theta=10000",
     {"f32 [T, 128]"},
     "f32 [T, 64]; kv [3, 2, 16]"},
    {"attention", "heads=4 layer=3 kv_heads=2 head_dim=16 scale=0.25", {"f32 [T, 64]", "kv [3, 2, 16]"}, "f32 [T, 64]"},
    {"gather_rows", "columns=64", {"f32 [T, 64]", "row_index [R]"}, "f32 [R, 64]"},
    {"concat_rows", "", {"weight q4_0 [8, 64]", "weight q4_0 [4, 64]"}, "weight q4_0 [12, 64]"},
    {"concat_rows", "", {"weight f32 [8]", "weight f32 [4]", "weight f32 [4]"}, "weight f32 [16]"},
};

const std::vector<Case> kBad = {
    {"gemm",
     "n=96 k=64 weight=q4_1 activation=f32",
     {"f32 [T, 32]", "weight q4_1 [96, 64]"},
     "gemm: input 0 (x) is f32 [T, 32], expected f32 [T, 64]"},
    {"gemm",
     "n=96 k=64 weight=q4_1 activation=f32",
     {"f32 [T, 64]", "weight q4_0 [96, 64]"},
     "gemm: input 1 (weight) is weight q4_0 [96, 64], expected weight q4_1 [96, 64]"},
    {"gemm", "n=96 k=64 weight=f32 activation=f32", {"f32 [T, 64]"}, "gemm: 1 inputs, expected 2"},
    {"gemm", "n=96 k=65 weight=q4_1 activation=f32", {}, "gemm: k=65 is not a multiple of the 32 elements in a block of q4_1"},
    {"gemm", "n=0 k=64 weight=f32 activation=f32", {}, "gemm: n is 0; 1 to 2147483647 is allowed"},
    {"gemm",
     "n=96 k=64 weight=f32 activation=f32 bias=true",
     {"f32 [T, 64]", "weight f32 [96, 64]", "weight f32 [64]"},
     "gemm: input 2 (bias) is weight f32 [64], expected weight f32 [96]"},
    {"add", "columns=64", {"f32 [T, 64]", "f32 [R, 64]"}, "add: input 1 (b) is f32 [R, 64], expected f32 [T, 64]"},
    {"add", "columns=64", {"ids [T]", "f32 [T, 64]"}, "add: input 0 (a) is ids [T], expected f32 [T, 64]"},
    {"embedding",
     "vocab=100 hidden=64 weight=f32",
     {"row_index [T]", "weight f32 [100, 64]"},
     "embedding: input 0 (ids) is row_index [T], expected ids [T]"},
    {"gather_rows",
     "columns=64",
     {"f32 [T, 64]", "ids [T]"},
     "gather_rows: input 1 (row_index) is ids [T], expected row_index [R]"},
    {"slice", "begin=32 columns=64", {"f32 [T, 64]"}, "slice: input 0 (x) is f32 [T, 64], expected f32 rows of 96 columns or more"},
    {"slice", "begin=-1 columns=64", {"f32 [T, 64]"}, "slice: begin is -1; 0 to 2147483647 is allowed"},
    {"attention", "heads=3 layer=0 kv_heads=2 head_dim=16 scale=0.25", {}, "attention: heads=3 is not a multiple of kv_heads=2"},
    {"attention",
     "heads=4 layer=3 kv_heads=2 head_dim=16 scale=0.25",
     {"f32 [T, 64]", "kv [2, 2, 16]"},
     "attention: input 1 (kv) is kv [2, 2, 16], expected kv [3, 2, 16]"},
    {"attention", "heads=4 layer=3 kv_heads=2 head_dim=16 scale=0", {}, "attention: scale is 0; above 0 and below 1e6 is allowed"},
    {"rms_norm", "hidden=8 eps=-1", {}, "rms_norm: eps is -1; 0 or more and below 1 is allowed"},
    {"rope", "heads=1 head_dim=8 rotary_dim=7 pairs=halves theta=1e4", {}, "rope: rotary_dim=7 is odd; pairs turn together"},
    {"rope", "heads=1 head_dim=8 rotary_dim=16 pairs=halves theta=1e4", {}, "rope: rotary_dim is 16; 2 to 8 is allowed"},
    {"rope", "heads=1 head_dim=8 rotary_dim=8 pairs=halves theta=0", {}, "rope: theta=0 is not positive"},
    {"rope", "heads=1 head_dim=8 rotary_dim=8 pairs=halves theta=1e4 freq_factors=1,2", {}, "rope: 2 freq_factors for 4 pairs"},
    {"rope",
     "heads=1 head_dim=4 rotary_dim=4 pairs=halves theta=1e4 freq_factors=1,0",
     {},
     "rope: freq_factors has 0; only positive values divide"},
    {"rope",
     "heads=1 head_dim=8 rotary_dim=8 pairs=halves theta=1e4 scaling=llama3 factor=8",
     {},
     "rope: original_context is 0; 1 to 2147483647 is allowed"},
    {"rope",
     "heads=1 head_dim=8 rotary_dim=8 pairs=halves theta=1e4 scaling=llama3 low_freq_factor=4 original_context=8",
     {},
     "rope: low_freq_factor=4 and high_freq_factor=4; expected 0 < low < high"},
    {"concat_rows", "", {}, "concat_rows: 0 inputs, expected 1 or more"},
    {"concat_rows",
     "",
     {"weight q4_0 [8, 64]", "weight q4_1 [4, 64]"},
     "concat_rows: input 1 (weight) is weight q4_1 [4, 64], expected weight q4_0 [4, 64]"},
    {"concat_rows",
     "",
     {"f32 [T, 64]"},
     "concat_rows: input 0 (weight) is f32 [T, 64], expected a weight of one or two dimensions"},
};

// The outputs as text, or the error.
std::string outcome(const Case& c) {
  const auto kind = parse_op(c.op);
  if (!kind.ok()) return kind.status().message();
  const auto desc = parse_desc(*kind, c.fields);
  if (!desc.ok()) return desc.status().message();
  std::vector<ValueType> inputs;
  for (const char* text : c.inputs) {
    const auto type = parse_type(text);
    if (!type.ok()) return type.status().message();
    EXPECT_EQ(type_text(*type), text);
    inputs.push_back(*type);
  }
  const auto types = infer_types(*desc, inputs);
  if (!types.ok()) return types.status().message();
  std::string out;
  for (const ValueType& type : *types) out += (out.empty() ? "" : "; ") + type_text(type);
  return out;
}

TEST(InferTypes, GoodCases) {
  std::vector<bool> seen(kNumOpKinds);
  for (const Case& c : kGood) {
    EXPECT_EQ(outcome(c), c.expected) << c.op << " " << c.fields;
    seen[static_cast<size_t>(*parse_op(c.op))] = true;
  }
  for (int i = 0; i < kNumOpKinds; ++i) EXPECT_TRUE(seen[static_cast<size_t>(i)]) << op_name(static_cast<OpKind>(i));
}

TEST(InferTypes, RefusalsNameOpInputExpectedAndFound) {
  for (const Case& c : kBad) EXPECT_EQ(outcome(c), c.expected) << c.op << " " << c.fields;
}

TEST(TypeText, MalformedTypesAreRefused) {
  for (const char* text : {"", "f32", "f32 []", "f32 [T]", "f32 [T, R]", "f32 [8, 8]", "f32 [T, 8", "f32 [T,8]", "ids [8]",
                           "ids [T, 8]", "kv [T, 1, 1]", "kv [1, 1]", "weight [8]", "weight nope [8]", "weight f32 [T]",
                           "weight f32 [-1]", "weight f32 []", "f64 [T, 8]", "f32 [T, 99999999999999999999]"}) {
    EXPECT_FALSE(parse_type(text).ok()) << text;
  }
}

TEST(Names, EachOpAndActivationReadsBack) {
  for (int i = 0; i < kNumOpKinds; ++i) EXPECT_EQ(*parse_op(op_name(static_cast<OpKind>(i))), static_cast<OpKind>(i));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(*parse_activation(activation_name(static_cast<ActivationType>(i))), static_cast<ActivationType>(i));
  }
  EXPECT_NE(parse_op("gem").status().message().find("rope_kv_write"), std::string::npos);
  EXPECT_FALSE(parse_activation("i4").ok());
}

TEST(Cost, CountsGemmAndAttention) {
  const OpCost gemm = op_cost(*parse_desc(OpKind::kGemm, "n=64 k=32 weight=q8_0 activation=i8b32"), 3, 0);
  EXPECT_EQ(gemm.flops, 2.0 * 3 * 64 * 32);
  EXPECT_EQ(gemm.weight_bytes, 64 * 34);
  EXPECT_EQ(gemm.other_bytes, 4.0 * 3 * (64 + 32));
  const OpCost attention = op_cost(*parse_desc(OpKind::kAttention, "heads=4 layer=0 kv_heads=2 head_dim=16 scale=1"), 1, 100);
  EXPECT_EQ(attention.other_bytes, 4.0 * 2 * 64 + 2.0 * 2 * 100 * 32);
}

}  // namespace
}  // namespace camshaft::ops
