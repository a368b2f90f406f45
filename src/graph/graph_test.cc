#include "graph/graph.h"

#include <gtest/gtest.h>

namespace camshaft::graph {
namespace {

ops::ValueType rows(int64_t columns) { return {ops::ValueType::Kind::kRows, {ops::Dim::tokens(), ops::Dim::fixed(columns)}}; }

// x > silu > (add with x) > output
struct Small {
  Graph graph;
  ValueId x, y, z;
  Small() {
    x = graph.add_input("x", rows(8));
    y = *graph.add1("act", ops::SiluDesc{8}, {x});
    z = *graph.add1("sum", ops::AddDesc{8}, {x, y});
    graph.set_outputs({z});
  }
};

TEST(Graph, ErrorsCarryTheNodesName) {
  Small small;
  EXPECT_EQ(small.graph.add("bad", ops::SiluDesc{9}, {small.x}).status().message(),
            "bad: silu: input 0 (x) is f32 [T, 8], expected f32 [T, 9]");
  EXPECT_EQ(small.graph.nodes().size(), 2u);
}

TEST(Graph, UsersAndReplacing) {
  Small small;
  EXPECT_EQ(small.graph.users(small.x), (std::vector<int32_t>{0, 1}));
  small.graph.replace_uses(small.y, small.x);
  EXPECT_TRUE(small.graph.users(small.y).empty());
  small.graph.replace_uses(small.z, small.y);
  EXPECT_EQ(small.graph.outputs(), std::vector<ValueId>{small.y});
}

// As a pass works: append the replacement, move the uses, drop the old nodes.
TEST(Graph, TidyPutsAppendedNodesBeforeTheirUsers) {
  Small small;
  const ValueId twice = *small.graph.add1("twice", ops::AddDesc{8}, {small.x, small.x});
  const ValueId again = *small.graph.add1("again", ops::MulDesc{8}, {twice, twice});
  small.graph.replace_uses(small.y, again);
  ASSERT_TRUE(small.graph.tidy({true}).ok());
  EXPECT_TRUE(verify(small.graph).ok());
  EXPECT_EQ(print(small.graph),
            "input %x : f32 [T, 8]\n"
            "%h2 = add(%x, %x) columns=8 : f32 [T, 8]  # twice\n"
            "%h3 = mul(%h2, %h2) columns=8 : f32 [T, 8]  # again\n"
            "%h1 = add(%x, %h3) columns=8 : f32 [T, 8]  # sum\n"
            "return %h1\n");
}

TEST(Graph, TidyDropsConstantsNobodyReads) {
  Small small;
  small.graph.add_constant({"w", {{tensor::Format::kF32, {8}, {}}}, {}});
  const int32_t before = small.graph.num_values();
  ASSERT_TRUE(small.graph.tidy({}).ok());
  EXPECT_EQ(small.graph.num_values(), before - 1);
}

TEST(Graph, TidyRefusesHolesAndCircles) {
  Small hole;
  EXPECT_EQ(hole.graph.tidy({true, false}).message(), "node 'sum' reads the removed node 'act'");
  EXPECT_EQ(hole.graph.tidy({false, true}).message(), "output %h1 comes from the removed node 'sum'");
  Small circle;
  circle.graph.nodes()[0].inputs = {circle.z};
  EXPECT_EQ(circle.graph.tidy({}).message(), "nodes 'sum' and 'act' read each other");
}

TEST(Graph, VerifySeesWhatRewritingCanBreak) {
  Small early;
  early.graph.nodes()[0].inputs = {early.z};
  EXPECT_EQ(verify(early.graph).message(), "graph: node 'act' reads %h1 before it is made");
  Small type;
  type.graph.value(type.y).type = rows(9);
  EXPECT_EQ(verify(type.graph).message(), "graph: %h0 is f32 [T, 9], its node makes f32 [T, 8]");
  Small twice;
  twice.graph.nodes()[1].outputs = {twice.y};
  EXPECT_EQ(verify(twice.graph).message(), "graph: node 'sum' makes %h0 a second time");
  Small name;
  name.graph.value(name.y).name = "%x";
  EXPECT_EQ(verify(name.graph).message(), "graph: two values are named '%x'");
  Small range;
  range.graph.nodes()[0].inputs = {77};
  EXPECT_EQ(verify(range.graph).message(), "graph: node 'act' reads value 77, which does not exist");
  Small none;
  none.graph.set_outputs({});
  EXPECT_EQ(verify(none.graph).message(), "graph: there is no output");
}

TEST(Graph, VerifyChecksConstants) {
  const std::vector<std::byte> bytes(32);
  const auto with = [](std::vector<tensor::TensorView> segments) {
    Small small;
    small.graph.add_constant({"w", std::move(segments), {}});
    return verify(small.graph).message();
  };
  using tensor::Format;
  EXPECT_EQ(with({{Format::kF32, {8}, bytes}}), "");
  EXPECT_EQ(with({{Format::kF32, {9}, bytes}}), "graph: constant 'w' has 32 bytes, its shape needs 36");
  EXPECT_EQ(with({{Format::kF32, {1, 2, 4}, bytes}}), "graph: constant 'w' has 3 dimensions; 1 or 2 are allowed");
  EXPECT_EQ(with({{Format::kF32, {8}, bytes}, {Format::kF32, {8}, bytes}}), "graph: constant 'w' is a vector in 2 segments");
  EXPECT_EQ(with({{Format::kF32, {2, 4}, bytes}, {Format::kF32, {4, 2}, bytes}}),
            "graph: constant 'w' joins f32 [2, 4] and f32 [4, 2]");
}

TEST(Constant, RowsRunOverSegments) {
  const std::vector<std::byte> a(2 * 4 * 4), b(3 * 4 * 4);
  const Constant constant{"w", {{tensor::Format::kF32, {2, 4}, a}, {tensor::Format::kF32, {3, 4}, b}}, {}};
  EXPECT_EQ(constant.rows(), 5);
  EXPECT_EQ(constant.row(1), a.data() + 16);
  EXPECT_EQ(constant.row(2), b.data());
  EXPECT_EQ(constant.row(4), b.data() + 32);
}

}  // namespace
}  // namespace camshaft::graph
