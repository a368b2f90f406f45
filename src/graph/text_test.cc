// Text in, text out; malformed graphs refused with their messages.
#include <gtest/gtest.h>

#include "graph/graph.h"

namespace camshaft::graph {
namespace {

constexpr std::string_view kLayer = R"(input %ids : ids [T]
input %logit_rows : row_index [R]
const token_embd.weight : weight q8_0 [100, 64]
const blk.0.attn_norm.weight : weight f32 [64]
const layers.0.qkv : weight q4_1 [128, 64] rows 64 + 32 + 32
const layers.0.qkv.bias : weight f32 [128]
const blk.0.attn_output.weight : weight q4_1 [64, 64]
%h0 = embedding(%ids, token_embd.weight) vocab=100 hidden=64 weight=q8_0 : f32 [T, 64]  # embedding
%h1 = rms_norm(%h0, blk.0.attn_norm.weight) hidden=64 eps=1e-05 : f32 [T, 64]  # layers.0.attention_norm
%h2 = gemm(%h1, layers.0.qkv, layers.0.qkv.bias) n=128 k=64 weight=q4_1 activation=i8b32 bias=true : f32 [T, 128]  # layers.0.qkv; merged q, k, v
%h3, %h4 = rope_kv_write(%h2) heads=4 layer=0 kv_heads=2 head_dim=16 rotary_dim=16 pairs=halves theta=10000 : f32 [T, 64]; kv [0, 2, 16]  # layers.0.rope_kv_write
%h5 = attention(%h3, %h4) heads=4 layer=0 kv_heads=2 head_dim=16 scale=0.25 : f32 [T, 64]  # layers.0.attention
%h7 = gemm(%h5, blk.0.attn_output.weight) n=64 k=64 weight=q4_1 activation=f32 : f32 [T, 64]  # layers.0.o
%h8 = add(%h0, %h7) columns=64 : f32 [T, 64]  # layers.0.attention_add
%rows = gather_rows(%h8, %logit_rows) columns=64 : f32 [R, 64]  # logit_rows
%logits = gemm(%rows, token_embd.weight) n=100 k=64 weight=q8_0 activation=f32 : f32 [R, 100]  # head
return %logits
)";

TEST(GraphText, PrintsWhatItRead) {
  const auto graph = parse(kLayer);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(print(*graph), kLayer);
  EXPECT_EQ(graph->value(4).constant->segments.size(), 3u);
}

TEST(GraphText, NewNamesStayClearOfThoseRead) {
  auto graph = parse(kLayer);
  ASSERT_TRUE(graph.ok());
  ASSERT_TRUE(graph->add1("extra", ops::SiluDesc{64}, {graph->nodes()[1].outputs[0]}).ok());
  EXPECT_EQ(verify(*graph).message(), "");
}

TEST(GraphText, BlankLinesAndCommentsAreSkipped) {
  const auto graph = parse("# a comment\n\n  input %x : f32 [T, 8]\n%y = silu(%x) columns=8 : f32 [T, 8] # act\nreturn %y");
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(print(*graph), "input %x : f32 [T, 8]\n%y = silu(%x) columns=8 : f32 [T, 8]  # act\nreturn %y\n");
}

TEST(GraphText, ConstantsAreResolvedByName) {
  const std::vector<std::byte> bytes(8 * 4);
  const auto resolve = [](std::string_view name, void* state) -> Result<Constant> {
    if (name != "w") return base::not_found("no such constant");
    const auto& stored = *static_cast<const std::vector<std::byte>*>(state);
    return Constant{std::string(name), {{tensor::Format::kF32, {8}, stored}}, {}};
  };
  const std::string body =
      " : weight f32 [8]\ninput %x : f32 [T, 8]\n%y = rms_norm(%x, w) hidden=8 eps=0 : f32 [T, 8]  # n\nreturn %y\n";
  void* state = const_cast<std::vector<std::byte>*>(&bytes);
  const auto good = parse("const w" + body, resolve, state);
  ASSERT_TRUE(good.ok()) << good.status().message();
  EXPECT_EQ(good->value(0).constant->row(0), bytes.data());
  EXPECT_EQ(parse("const v" + body, resolve, state).status().message(), "line 1: no such constant");
  EXPECT_EQ(parse("const w : weight f16 [8]\nreturn w", resolve, state).status().message(),
            "line 1: constant 'w' is weight f32 [8], the text says weight f16 [8]");
}

struct Refusal {
  const char* text;
  const char* message;
};

const Refusal kRefusals[] = {
    {"", "the line 'return ...' is missing"},
    {"input %x : f32 [T, 8]\nreturn %y", "line 2: '%y' is not defined above"},
    {"input %x : f32 [T, 8]\nreturn", "line 2: 'return' is no input, const, node or return"},
    {"input %x : f32 [T, 8]\nreturn %x\nreturn %x", "line 3: 'return %x' stands after 'return'"},
    {"input %x : f32 [T, 8]\nreturn %x, %x", "graph: output %x stands twice"},
    {"input x : f32 [T, 8]", "line 1: input 'x' does not start with %"},
    {"input %x : kv [0, 1, 1]\nreturn %x", "graph: input %x is kv [0, 1, 1]; only rows, ids and row indices come from outside"},
    {"input %x : f32 [T, 8]\ninput %x : f32 [T, 8]", "line 2: '%x' is defined twice"},
    {"nonsense", "line 1: 'nonsense' is no input, const, node or return"},
    {"const w : f32 [T, 8]", "line 1: constant 'w' is f32 [T, 8], expected a weight of one or two dimensions"},
    {"const w : weight f32 [8, 8] rows 4 + x", "line 1: constant 'w': 'x' is no number of rows"},
    {"const w : weight f32 [8, 8] rows 4 + 5", "line 1: constant 'w' is weight f32 [9, 8], the text says weight f32 [8, 8]"},
    {"const w : weight f32 [0, 8]\nreturn w", "graph: constant 'w' is [0, 8]"},
    {"const w : weight f32 [9000000000000000000, 9000000000000000000]\nreturn w",
     "graph: constant 'w' is [9000000000000000000, 9000000000000000000]"},
    {"const %w : weight f32 [8]\nreturn %w", "graph: '%w' is no name for a constant"},
    {"input %x : f32 [T, 8]\n%y = silo(%x) columns=8 : f32 [T, 8]  # a",
     "line 2: 'silo' is no op; there are: embedding, rms_norm, add_rms_norm, gemm, add, mul, silu, swiglu, slice, rope, kv_write, "
     "rope_kv_write, attention, gather_rows, concat_rows"},
    {"input %x : f32 [T, 8]\n%y = silu(%x) columns=8 : f32 [T, 8]", "line 2: the node's name ('# name') is missing"},
    {"input %x : f32 [T, 8]\n%y = silu(%x) columns=8  # a", "line 2: 'columns=8' is not of the form 'fields : types'"},
    {"input %x : f32 [T, 8]\n%y = silu(%x) : f32 [T, 8]  # a", "line 2: silu: 'columns' is missing"},
    {"input %x : f32 [T, 8]\n%y = silu(%x) columns=9 : f32 [T, 9]  # a",
     "line 2: a: silu: input 0 (x) is f32 [T, 8], expected f32 [T, 9]"},
    {"input %x : f32 [T, 8]\n%y = silu(%x) columns=8 : f32 [T, 9]  # a", "line 2: %y is written as f32 [T, 9], but is f32 [T, 8]"},
    {"input %x : f32 [T, 8]\n%y, %z = silu(%x) columns=8 : f32 [T, 8]  # a", "line 2: 2 names and 1 types for 1 outputs"},
    {"input %x : f32 [T, 8]\n%x = silu(%x) columns=8 : f32 [T, 8]  # a", "line 2: '%x' is defined twice"},
    {"input %x : f32 [T, 8]\n%y = silu(%x) columns=8 : f32 [T, 8]  # a b\nreturn %y", "graph: 'a b' is no name for a node"},
    {"input %x : f32 [T, 8]\n%k = kv_write(%x, %x) layer=0 kv_heads=1 head_dim=8 : kv [0, 1, 8]  # a\nreturn %k",
     "graph: output %k is a cache state"},
    {"input %x : f32 [T, 8]\n%k = kv_write(%x, %x) layer=0 kv_heads=1 head_dim=8 : kv [0, 1, 8]  # a\n"
     "%l = kv_write(%x, %x) layer=0 kv_heads=1 head_dim=8 : kv [0, 1, 8]  # b\nreturn %x",
     "graph: nodes 'a' and 'b' both write the cache of layer 0"},
    {"input %x : f32 [T, 8]\n%k = kv_write(%x, %x) layer=0 kv_heads=1 head_dim=8 : kv [0, 1, 8]  # a\n"
     "%l = kv_write(%x, %x) layer=1 kv_heads=2 head_dim=4 : kv [1, 2, 4]  # b\nreturn %x",
     "graph: the cache has 1 heads of 8 in layer 0 and 2 of 4 in layer 1"},
};

TEST(GraphText, RefusalsNameLineAndReason) {
  for (const Refusal& refusal : kRefusals) EXPECT_EQ(parse(refusal.text).status().message(), refusal.message) << refusal.text;
}

}  // namespace
}  // namespace camshaft::graph
