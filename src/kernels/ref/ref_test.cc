// The specification against numbers worked out by hand.
#include "kernels/ref/ref.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "kernels/layouts.h"
#include "tensor/dtype.h"

namespace camshaft::kernels {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;

TensorArg arg(std::vector<float>& values, int64_t stride) { return {values.data(), stride}; }

// One worker, `rows` rows.
void run(const KernelInfo& kernel, const ops::OpDesc& desc, int64_t rows, std::vector<TensorArg> in, std::vector<TensorArg> out,
         const BatchView* batch = nullptr, const Caps& caps = {}, const float* rope_table = nullptr) {
  std::vector<double> workspace(static_cast<size_t>(kernel.workspace_bytes(desc, caps, rows, 1)) / sizeof(double) + 1);
  const RunContext context{&desc, 0, &caps, kernel.weight_layout(desc), rope_table};
  kernel.run({}, context, {rows, in.data(), out.data(), reinterpret_cast<std::byte*>(workspace.data()), batch});
}

TEST(Reference, RmsNorm) {
  std::vector<float> x = {3, 4}, w = {1, 10}, y(2);
  run(kRmsNormRef, ops::RmsNormDesc{2, 0.0f}, 1, {arg(x, 2), arg(w, 0)}, {arg(y, 2)});
  EXPECT_THAT(y, ElementsAre(FloatEq(3 / std::sqrt(12.5f)), FloatEq(40 / std::sqrt(12.5f))));
}

TEST(Reference, AddRmsNorm) {
  std::vector<float> a = {1, 1}, b = {2, 3}, w = {1, 1}, y(2), sum(2);
  run(kAddRmsNormRef, ops::AddRmsNormDesc{2, 0.0f}, 1, {arg(a, 2), arg(b, 2), arg(w, 0)}, {arg(y, 2), arg(sum, 2)});
  EXPECT_THAT(sum, ElementsAre(3, 4));
  EXPECT_THAT(y, ElementsAre(FloatEq(3 / std::sqrt(12.5f)), FloatEq(4 / std::sqrt(12.5f))));
}

TEST(Reference, SwigluMergedAndApart) {
  std::vector<float> merged = {0, 1, 5, 2}, gate = {0, 1}, up = {5, 2}, y(2), z(2);
  run(kSwigluRef, ops::SwigluDesc{2, true}, 1, {arg(merged, 4)}, {arg(y, 2)});
  run(kSwigluRef, ops::SwigluDesc{2, false}, 1, {arg(gate, 2), arg(up, 2)}, {arg(z, 2)});
  EXPECT_THAT(y, ElementsAre(0, FloatEq(2.0f / (1.0f + std::exp(-1.0f)))));
  EXPECT_EQ(y, z);
}

// At position 1 with theta 1 every pair turns by one radian.
TEST(Reference, RopeTurnsPairsAndLeavesTheRest) {
  ops::RopeParams rope;
  rope.head_dim = 5;
  rope.rotary_dim = 4;
  rope.theta = 1.0;
  std::vector<float> table(8), x = {1, 2, 0, 0, 9}, halves(5), interleaved(5);
  ops::fill_rope_table(rope, 2, table.data());
  const int32_t position = 1;
  const SequenceSlice sequence{0, 1, 1, nullptr};
  const BatchView batch{1, &position, &sequence, 1, nullptr};
  run(kRopeRef, ops::RopeDesc{1, rope}, 1, {arg(x, 5)}, {arg(halves, 5)}, &batch, {}, table.data());
  const float c = std::cos(1.0f), s = std::sin(1.0f);
  EXPECT_THAT(halves, ElementsAre(FloatEq(c), FloatEq(2 * c), FloatEq(s), FloatEq(2 * s), 9));
  rope.pairs = ops::RopeParams::Pairs::kInterleaved;
  run(kRopeRef, ops::RopeDesc{1, rope}, 1, {arg(x, 5)}, {arg(interleaved, 5)}, &batch, {}, table.data());
  EXPECT_THAT(interleaved, ElementsAre(FloatEq(c - 2 * s), FloatEq(s + 2 * c), 0, 0, 9));
}

// Two tokens written and read back through attention, the second with weights e : 1.
TEST(Reference, WritesTheCacheAndAttendsOverIt) {
  for (const auto order : {ops::KvLayout::KeyOrder::kDimMajor, ops::KvLayout::KeyOrder::kTokenMajor}) {
    Caps caps;
    caps.kv = {tensor::Format::kF32, order, 1, 1, 2};
    std::vector<float> cache(static_cast<size_t>(2 * caps.kv.block_bytes() / 4), NAN);
    std::vector<float> keys = {1, 0, 0, 1}, values = {1, 2, 3, 4}, q = {5, 5, 1, 0}, y(4);
    const int32_t positions[] = {0, 1}, blocks[] = {1};
    const SequenceSlice sequence{0, 2, 0, blocks};
    const BatchView batch{2, positions, &sequence, 1, reinterpret_cast<std::byte*>(cache.data())};
    run(kKvWriteRef, ops::KvWriteDesc{{0, 1, 2}}, 2, {arg(keys, 2), arg(values, 2)}, {{}}, &batch, caps);
    const size_t block = static_cast<size_t>(caps.kv.block_bytes() / 4);
    EXPECT_EQ(cache[block + (order == ops::KvLayout::KeyOrder::kDimMajor ? 17 : 3)], 1.0f);
    run(kAttentionRef, ops::AttentionDesc{1, {0, 1, 2}, 1.0f}, 2, {arg(q, 2), {}}, {arg(y, 2)}, &batch, caps);
    const float first = std::numbers::e_v<float> / (1 + std::numbers::e_v<float>);
    EXPECT_THAT(y, ElementsAre(1, 2, FloatNear(3 - 2 * first, 1e-6f), FloatNear(4 - 2 * first, 1e-6f)));
  }
}

TEST(Reference, GemmQuantisesActivationsAsDescribed) {
  std::vector<float> x(32, 0.0f), w(32, 1.0f), bias = {0.5f}, y(1);
  x[0] = 1.27f;
  x[1] = 0.0151f;  // 1.51 steps of 0.01
  for (const auto& [activation, expected] :
       {std::pair(ops::ActivationType::kF32, 1.2851f), std::pair(ops::ActivationType::kI8B32, 1.29f),
        std::pair(ops::ActivationType::kI16B32, 1.2851f)}) {
    run(kGemmRef, ops::GemmDesc{1, 32, tensor::Format::kF32, activation, true}, 1, {arg(x, 32), arg(w, 0), arg(bias, 0)},
        {arg(y, 1)});
    EXPECT_NEAR(y[0], expected + 0.5f, 3e-5f) << ops::activation_name(activation);
  }
  run(kGemmRef, ops::GemmDesc{1, 32, tensor::Format::kF32, ops::ActivationType::kBF16, false}, 1, {arg(x, 32), arg(w, 0)},
      {arg(y, 1)});
  EXPECT_FLOAT_EQ(y[0], tensor::bf16_to_f32(tensor::f32_to_bf16(1.27f)) + tensor::bf16_to_f32(tensor::f32_to_bf16(0.0151f)));
}

TEST(Reference, EmbeddingGatherAndSlice) {
  std::vector<float> table = {1, 2, 3, 4, 5, 6}, y(4), z(1);
  int32_t ids[] = {2, 0};
  run(kEmbeddingRef, ops::EmbeddingDesc{3, 2, tensor::Format::kF32}, 2, {{ids, 1}, arg(table, 0)}, {arg(y, 2)});
  EXPECT_THAT(y, ElementsAre(5, 6, 1, 2));
  run(kGatherRowsRef, ops::GatherRowsDesc{2}, 2, {arg(table, 2), {ids, 1}}, {arg(y, 2)});
  EXPECT_THAT(y, ElementsAre(5, 6, 1, 2));
  run(kSliceRef, ops::SliceDesc{1, 1}, 1, {arg(table, 2)}, {arg(z, 1)});
  EXPECT_THAT(z, ElementsAre(2));
}

}  // namespace
}  // namespace camshaft::kernels
