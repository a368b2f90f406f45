// The interpreter over small graphs written as text, with constants filled by a rule.
#include "interp/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <list>

#include "base/format.h"

namespace camshaft::interp {
namespace {

// Bytes of every constant asked for: value i of a constant is i / 8.
struct Numbers {
  std::list<std::vector<std::byte>> owned;
};

Result<graph::Constant> counting(std::string_view name, void* state) {
  // Names are "<rows>x<columns>..." or "<size>v...".
  int64_t rows = 0, columns = 0;
  const std::string text(name);
  const bool matrix = std::sscanf(text.c_str(), "%ldx%ld", &rows, &columns) == 2;
  if (!matrix) columns = rows;
  const auto count = static_cast<size_t>(matrix ? rows * columns : columns);
  auto& bytes = static_cast<Numbers*>(state)->owned.emplace_back(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(i) / 8;
    std::memcpy(bytes.data() + i * sizeof(float), &value, sizeof(value));
  }
  tensor::TensorView view{tensor::Format::kF32, matrix ? tensor::Shape{rows, columns} : tensor::Shape{columns}, bytes};
  return graph::Constant{text, {view}, {}};
}

constexpr const char* kJoined = R"(input %ids : ids [T]
input %rows : row_index [R]
const 6x4table : weight f32 [6, 4]
const 2x4a : weight f32 [2, 4]
const 1x4b : weight f32 [1, 4]
const 2va : weight f32 [2]
const 1vb : weight f32 [1]
%x = embedding(%ids, 6x4table) vocab=6 hidden=4 weight=f32 : f32 [T, 4]  # embedding
%w = concat_rows(2x4a, 1x4b) : weight f32 [3, 4]  # join
%b = concat_rows(2va, 1vb) : weight f32 [3]  # join_bias
%y = gemm(%x, %w, %b) n=3 k=4 weight=f32 activation=f32 bias=true : f32 [T, 3]  # gemm
%s = slice(%y) begin=1 columns=2 : f32 [T, 2]  # slice
%g = gather_rows(%s, %rows) columns=2 : f32 [R, 2]  # gather
return %g
)";

TEST(Interpreter, JoinsConstantsSlicesAndGathers) {
  Numbers numbers;
  const auto graph = graph::parse(kJoined, counting, &numbers);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  auto interpreter = Interpreter::make(*graph, {.max_tokens = 8});
  ASSERT_TRUE(interpreter.ok()) << interpreter.status().message();
  std::vector<std::string> seen;
  interpreter->observe([&](graph::ValueId id, std::span<const float> rows, int64_t columns) {
    seen.push_back(format("{} {}x{}", graph->value(id).name, rows.size() / static_cast<size_t>(columns), columns));
  });
  const auto out = interpreter->run(std::vector<int32_t>{1, 0}, std::vector<int32_t>{1, 0, 1});
  ASSERT_TRUE(out.ok()) << out.status().message();
  // x = [4 5 6 7] / 8 and [0 1 2 3] / 8; rows of w: [0..3], [4..7], [0..3] (all / 8); bias 0, 1/8, 0.
  const float y01 = 126 / 64.f + 1 / 8.f, y02 = 38 / 64.f, y11 = 38 / 64.f + 1 / 8.f, y12 = 14 / 64.f;
  EXPECT_EQ(*out, (std::vector<float>{y11, y12, y01, y02, y11, y12}));
  EXPECT_EQ(seen, (std::vector<std::string>{"%x 2x4", "%y 2x3", "%s 2x2", "%g 3x2"}));
}

TEST(Interpreter, RefusesWhatItCannotFeed) {
  Numbers numbers;
  const auto graph = graph::parse(kJoined, counting, &numbers);
  auto interpreter = Interpreter::make(*graph, {.max_tokens = 3});
  ASSERT_TRUE(interpreter.ok());
  const auto message = [&](std::vector<int32_t> tokens, std::vector<int32_t> rows) {
    return interpreter->run(tokens, rows).status().message();
  };
  EXPECT_EQ(message({}, {}), "there are no tokens to run");
  EXPECT_EQ(message({6}, {}), "token id 6 is out of range; 0 to 5 is allowed");
  EXPECT_EQ(message({-1}, {}), "token id -1 is out of range; 0 to 5 is allowed");
  EXPECT_EQ(message({1, 2}, {2}), "logit row 2 is out of range; 0 to 1 is allowed");
  EXPECT_EQ(message({1, 2}, {}), "");
  EXPECT_EQ(message({1, 2}, {}), "2 tokens after 2 do not fit the cache of 3; raise max_tokens");
  interpreter->reset();
  EXPECT_EQ(message({1, 2, 3}, {}), "");
}

TEST(Interpreter, RefusesGraphsItCannotRun) {
  const auto message = [](const char* text, const InterpOptions& options) {
    const auto graph = graph::parse(text);
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    return Interpreter::make(*graph, options).status().message();
  };
  EXPECT_EQ(message(kJoined, {}), "constant '6x4table' has no bytes; the graph can be read, but not run");
  EXPECT_EQ(message("input %x : f32 [T, 8]\n%y = silu(%x) columns=8 : f32 [T, 8]  # a\nreturn %y", {}),
            "input %x is f32 [T, 8]; token ids and row indices can be fed");
  EXPECT_EQ(message(kJoined, {.max_tokens = 0}), "max_tokens=0; 1 to 2147483647 is allowed");
  EXPECT_EQ(message(kJoined, {.num_threads = 0}), "num_threads=0; 1 to 1024 is allowed");
  EXPECT_EQ(message(kJoined, {.kv_format = tensor::Format::kQ8_0}), "kv_format=q8_0 is not f32 or f16");
}

}  // namespace
}  // namespace camshaft::interp
