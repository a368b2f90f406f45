// Names of passes, switching them, stopping after one; lowering: places of operands, slices as views, refusals; packing.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/compiler.h"
#include "compiler/test_graphs.h"
#include "kernels/kernel.h"
#include "tensor/quant/convert.h"

namespace camshaft::compiler {
namespace {

constexpr const char* kModel = R"(input %ids : ids [T]
input %rows : row_index [R]
const table : weight f32 [64, 32]
const norm.w : weight f32 [32]
const q.w : weight f32 [32, 32]
const k.w : weight f32 [16, 32]
const v.w : weight f32 [16, 32]
const q.b : weight f32 [32]
const k.b : weight f32 [16]
const v.b : weight f32 [16]
%x = embedding(%ids, table) vocab=64 hidden=32 weight=f32 : f32 [T, 32]  # embedding
%n = rms_norm(%x, norm.w) hidden=32 eps=1e-05 : f32 [T, 32]  # a.norm
%q = gemm(%n, q.w, q.b) n=32 k=32 weight=f32 activation=f32 bias=true : f32 [T, 32]  # a.q
%k = gemm(%n, k.w, k.b) n=16 k=32 weight=f32 activation=f32 bias=true : f32 [T, 16]  # a.k
%v = gemm(%n, v.w, v.b) n=16 k=32 weight=f32 activation=f32 bias=true : f32 [T, 16]  # a.v
%rq = rope(%q) heads=2 head_dim=16 rotary_dim=16 pairs=halves theta=100 : f32 [T, 32]  # a.rope_q
%rk = rope(%k) heads=1 head_dim=16 rotary_dim=16 pairs=halves theta=100 : f32 [T, 16]  # a.rope_k
%kv = kv_write(%rk, %v) layer=0 kv_heads=1 head_dim=16 : kv [0, 1, 16]  # a.kv_write
%y = attention(%rq, %kv) heads=2 layer=0 kv_heads=1 head_dim=16 scale=0.25 : f32 [T, 32]  # a.attend
%s = add(%x, %y) columns=32 : f32 [T, 32]  # a.add
%g = gather_rows(%s, %rows) columns=32 : f32 [R, 32]  # gather
%logits = gemm(%g, table) n=64 k=32 weight=f32 activation=f32 : f32 [R, 64]  # head
return %logits
)";

graph::Graph model(std::string text = kModel) {
  auto graph = parse_zeros(text);
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return std::move(*graph);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Pipeline, UnknownNamesAreRefusedWithTheList) {
  graph::Graph graph = model();
  EXPECT_EQ(run_passes(graph, {.disabled_passes = {"merge_qvk"}}).status().message(),
            "--passes: there is no pass 'merge_qvk'; the passes are merge_qkv, merge_gate_up, fold_constants, fuse_rope_kv_write, "
            "fuse_swiglu, fuse_add_norm, quantise, drop_dead");
  EXPECT_EQ(run_passes(graph, {.stop_after = "fold"}).status().message(),
            "--stop-after: there is no pass 'fold'; the passes are merge_qkv, merge_gate_up, fold_constants, fuse_rope_kv_write, "
            "fuse_swiglu, fuse_add_norm, quantise, drop_dead");
  EXPECT_EQ(graph::print(graph), kModel);
}

TEST(Pipeline, WhatLoweringNeedsStaysOn) {
  graph::Graph graph = model();
  for (const char* name : {"fold_constants", "quantise"}) {
    EXPECT_EQ(run_passes(graph, {.disabled_passes = {name}}).status().message(),
              "--passes: '" + std::string(name) + "' cannot be switched off: lowering needs it");
  }
}

TEST(Pipeline, ReportsEachPassAndStops) {
  graph::Graph graph = model();
  const auto reports = run_passes(graph, {.disabled_passes = {"merge_gate_up"}, .stop_after = "fold_constants"});
  ASSERT_TRUE(reports.ok()) << reports.status().message();
  ASSERT_EQ(reports->size(), 3u);
  EXPECT_EQ((*reports)[0].changes, 1);
  EXPECT_TRUE((*reports)[0].enabled);
  EXPECT_FALSE((*reports)[1].enabled);
  EXPECT_EQ((*reports)[2].changes, 2);  // the weights and the biases of q, k and v
  EXPECT_EQ((*reports)[2].nodes_after, static_cast<int64_t>(graph.nodes().size()));
}

TEST(Pipeline, PrecisionNamesReadBack) {
  for (const char* name : {"keep", "f32", "bf16", "int8", "int4"}) EXPECT_EQ(precision_name(parse_precision(name).value()), name);
  EXPECT_EQ(parse_precision("fp16").status().message(), "--precision: 'fp16' is none of keep, f32, bf16, int8, int4");
}

struct Lowered {
  graph::Graph graph;
  engine::Plan plan;
};

Lowered lowered(std::vector<std::string> disabled) {
  Lowered out{model(), {}};
  CompileOptions options;
  options.precision = Precision::kF32;
  options.kv_format = tensor::Format::kF32;
  options.disabled_passes = std::move(disabled);
  const auto reports = run_passes(out.graph, options);
  EXPECT_TRUE(reports.ok()) << reports.status().message();
  auto plan = lower(out.graph, *reports, options);
  EXPECT_TRUE(plan.ok()) << plan.status().message();
  out.plan = std::move(*plan);
  return out;
}

const engine::Step& step_named(const engine::Plan& plan, std::string_view name) {
  const auto at = std::ranges::find(plan.steps, name, &engine::Step::name);
  EXPECT_NE(at, plan.steps.end()) << name;
  return *at;
}

// Rows of an operand, ends included.
int64_t end_of(const engine::Operand& operand, int64_t rows) { return operand.offset + rows * operand.stride * 4; }

TEST(Lower, OperandsLieInsideTheArena) {
  for (const std::vector<std::string>& disabled : {std::vector<std::string>{}, {"merge_qkv"}, {"fuse_rope_kv_write"}}) {
    const engine::Plan plan = lowered(disabled).plan;
    for (const engine::Step& step : plan.steps) {
      for (const auto* operands : {&step.inputs, &step.outputs}) {
        for (const engine::Operand& operand : *operands) {
          if (operand.place != engine::Operand::Place::kArena) continue;
          EXPECT_GE(operand.offset, 0) << step.name;
          const int64_t rows = step.rows == ops::Symbol::kTokens ? plan.max_batch_tokens : plan.max_logit_rows;
          EXPECT_LE(end_of(operand, rows) - operand.offset % 64, plan.arena_bytes) << step.name;
        }
      }
    }
    EXPECT_EQ(step_named(plan, "head").outputs[0].place, engine::Operand::Place::kLogits);
    EXPECT_EQ(plan.buckets.back().max_rows, plan.max_batch_tokens);
  }
}

TEST(Lower, SlicesAreViewsOfTheMergedProjection) {
  const engine::Plan plan = lowered({"fuse_rope_kv_write"}).plan;
  EXPECT_TRUE(std::ranges::none_of(plan.steps, [](const auto& step) { return ops::op_kind(step.desc) == ops::OpKind::kSlice; }));
  const engine::Operand merged = step_named(plan, "a.qkv").outputs[0];
  const engine::Operand q = step_named(plan, "a.rope_q").inputs[0], k = step_named(plan, "a.rope_k").inputs[0];
  const engine::Operand v = step_named(plan, "a.kv_write").inputs[1];
  EXPECT_EQ(merged.stride, 64);
  for (const engine::Operand& slice : {q, k, v}) EXPECT_EQ(slice.stride, 64);
  EXPECT_EQ(q.offset, merged.offset);
  EXPECT_EQ(k.offset, merged.offset + 32 * 4);
  EXPECT_EQ(v.offset, merged.offset + 48 * 4);
  // The merged rows live until the cache write reads them: what is made in between lies elsewhere.
  const engine::Operand turned = step_named(plan, "a.rope_q").outputs[0];
  EXPECT_TRUE(end_of(turned, plan.max_batch_tokens) <= merged.offset || turned.offset >= end_of(merged, plan.max_batch_tokens));
}

TEST(Lower, ConstantsStandOnceWithTheLayoutOfTheirKernel) {
  const engine::Plan plan = lowered({}).plan;
  EXPECT_EQ(plan.constants.size(), 4u);  // table, norm, merged weight and bias
  const auto bias = std::ranges::find(plan.constants, "a.qkv.bias", &engine::ConstantEntry::name);
  ASSERT_NE(bias, plan.constants.end());
  EXPECT_EQ(bias->k, 64);
  EXPECT_EQ(bias->bytes, 256u);
  EXPECT_EQ(step_named(plan, "embedding").inputs[1].constant, step_named(plan, "head").inputs[1].constant);
}

TEST(Lower, RefusesWhatAPlanCannotSay) {
  const auto message = [](const std::string& text) {
    graph::Graph graph = model(text);
    CompileOptions options;
    options.precision = Precision::kF32;
    const auto reports = run_passes(graph, options);
    EXPECT_TRUE(reports.ok()) << reports.status().message();
    return lower(graph, *reports, options).status().message();
  };
  EXPECT_NE(message(replaced(kModel, "heads=1 head_dim=16 rotary_dim=16 pairs=halves theta=100",
                             "heads=1 head_dim=16 rotary_dim=16 pairs=halves theta=200"))
                .find("'a.rope_k': its rotary parameters"),
            std::string::npos);
  EXPECT_EQ(message(replaced(kModel, "return %logits",
                             "%other = silu(%logits) columns=64 : f32 [R, 64]  # other\n"
                             "return %logits, %other")),
            "lowering: 1 attention layers and 2 outputs; expected at least one and exactly one");
}

TEST(Pack, BytesAreTheLayoutsWhateverTheThreads) {
  const kernels::WeightLayout* layout = kernels::find_layout("rows_f32");
  ASSERT_NE(layout, nullptr);
  std::vector<float> numbers(3 * 8);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
  const auto bytes = std::as_bytes(std::span(numbers));
  const graph::Constant constant{
      "w", {{tensor::Format::kF32, {1, 8}, bytes.first(32)}, {tensor::Format::kF32, {2, 8}, bytes.subspan(32)}}, {}};
  engine::ConstantEntry entry{"w", "rows_f32", tensor::Format::kF32, 3, 8, 0, 0};
  entry.bytes = static_cast<uint64_t>(kernels::packed_bytes(*layout, 3, 8));
  std::vector<std::byte> one(entry.bytes), four(entry.bytes);
  base::ThreadPool single(1, base::Pinning::kFloat), several(4, base::Pinning::kFloat);
  ASSERT_TRUE(pack_constant(constant, entry, one, single).ok());
  ASSERT_TRUE(pack_constant(constant, entry, four, several).ok());
  EXPECT_TRUE(one == four);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), one.begin()));
  entry.n = 4;
  EXPECT_EQ(pack_constant(constant, entry, one, single).code(), Code::kInternal);
}

TEST(Pack, ConvertsRowsOfAnotherFormat) {
  constexpr int64_t kRows = 5, kColumns = 64;
  std::vector<float> numbers(kRows * kColumns), scratch(kColumns);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 37) - 18.0f;
  const graph::Constant constant{"w", {{tensor::Format::kF32, {kRows, kColumns}, std::as_bytes(std::span(numbers))}}, {}};
  engine::ConstantEntry entry{"w", "rows_i8b32", tensor::Format::kI8B32, kRows, kColumns, 0, 0};
  const int64_t row_bytes = tensor::format_bytes(entry.format, kColumns);
  entry.bytes = static_cast<uint64_t>(kRows * row_bytes);
  std::vector<std::byte> expected(entry.bytes), found(entry.bytes);
  for (int64_t row = 0; row < kRows; ++row) {
    tensor::convert_row(tensor::Format::kF32, constant.row(row), entry.format, expected.data() + row * row_bytes, kColumns,
                        scratch.data());
  }
  base::ThreadPool pool(2, base::Pinning::kFloat);
  ASSERT_TRUE(pack_constant(constant, entry, found, pool).ok());
  EXPECT_TRUE(found == expected);
}

TEST(Pipeline, LeavesWeightsInTheFormatOfTheirType) {
  graph::Graph graph = model();
  ASSERT_TRUE(run_passes(graph, {.precision = Precision::kBf16}).ok());
  EXPECT_EQ(graph.value(graph.nodes().front().inputs[1]).type.format, tensor::Format::kBF16);
  for (graph::ValueId id = 0; id < graph.num_values(); ++id) {
    const graph::Value& value = graph.value(id);
    if (value.constant) {
      EXPECT_EQ(value.constant->format(), value.type.format) << value.name;
    }
  }
}

}  // namespace
}  // namespace camshaft::compiler
