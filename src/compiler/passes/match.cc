#include "compiler/passes/match.h"

#include <algorithm>
#include <cstring>

namespace camshaft::compiler {

using graph::Constant;
using graph::Graph;
using graph::Node;
using graph::ValueId;

const Node* single_user(const Graph& graph, ValueId id) {
  if (std::ranges::find(graph.outputs(), id) != graph.outputs().end()) return nullptr;
  const std::vector<int32_t> users = graph.users(id);
  return users.size() == 1 ? &graph.nodes()[static_cast<size_t>(users.front())] : nullptr;
}

size_t node_index(const Graph& graph, const Node& node) { return static_cast<size_t>(&node - graph.nodes().data()); }

namespace {

const ops::GemmDesc& gemm_at(const Graph& graph, size_t index) { return std::get<ops::GemmDesc>(graph.nodes()[index].desc); }

bool mergeable(const Graph& graph, const std::vector<size_t>& gemms) {
  const ops::GemmDesc& first = gemm_at(graph, gemms.front());
  return std::ranges::all_of(gemms, [&](size_t index) {
    const ops::GemmDesc& desc = gemm_at(graph, index);
    return desc.k == first.k && desc.weight == first.weight && desc.activation == first.activation && desc.bias == first.bias &&
           graph.nodes()[index].inputs.front() == graph.nodes()[gemms.front()].inputs.front();
  });
}

// Biases are small: one after the other in a constant of its own.
ValueId concat_biases(Graph& graph, const std::vector<size_t>& gemms, const std::string& name) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const size_t index : gemms) {
    const auto part = graph.value(graph.nodes()[index].inputs[2]).constant->segments.front().bytes;
    bytes->insert(bytes->end(), part.begin(), part.end());
  }
  Constant constant;
  constant.name = name + ".bias";
  constant.segments.push_back({tensor::Format::kF32, {static_cast<int64_t>(bytes->size() / sizeof(float))}, *bytes});
  constant.storage.push_back(std::move(bytes));
  return graph.add_constant(std::move(constant));
}

}  // namespace

Result<std::optional<MergedGemm>> merge_gemms(Graph& graph, const std::vector<size_t>& gemms, std::string name, std::string note) {
  if (!mergeable(graph, gemms)) return std::optional<MergedGemm>();
  ops::GemmDesc desc = gemm_at(graph, gemms.front());
  const ValueId input = graph.nodes()[gemms.front()].inputs.front();
  std::vector<ValueId> weights;
  std::vector<int64_t> columns;
  for (const size_t index : gemms) {
    weights.push_back(graph.nodes()[index].inputs[1]);
    columns.push_back(gemm_at(graph, index).n);
  }
  desc.n = 0;
  for (const int64_t n : columns) desc.n += n;

  CS_ASSIGN_OR_RETURN(const ValueId weight, graph.add1(name + ".weight", ops::ConcatRowsDesc{}, weights));
  std::vector<ValueId> inputs = {input, weight};
  if (desc.bias) inputs.push_back(concat_biases(graph, gemms, name));
  MergedGemm merged;
  CS_ASSIGN_OR_RETURN(merged.output, graph.add1(name, desc, inputs));
  graph.nodes().back().note = std::move(note);
  int64_t begin = 0;
  for (size_t i = 0; i < gemms.size(); ++i) {
    const std::string part = graph.nodes()[gemms[i]].name;
    CS_ASSIGN_OR_RETURN(const ValueId slice, graph.add1(part + ".slice", ops::SliceDesc{begin, columns[i]}, {merged.output}));
    graph.replace_uses(graph.nodes()[gemms[i]].outputs.front(), slice);
    merged.slices.push_back(slice);
    begin += columns[i];
  }
  return std::optional<MergedGemm>(std::move(merged));
}

}  // namespace camshaft::compiler
