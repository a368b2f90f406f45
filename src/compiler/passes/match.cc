#include "compiler/passes/match.h"

#include <algorithm>

namespace camshaft::compiler {

using graph::Graph;
using graph::Node;
using graph::ValueId;

const Node* single_user(const Graph& graph, ValueId id) {
  if (std::ranges::find(graph.outputs(), id) != graph.outputs().end()) return nullptr;
  const std::vector<int32_t> users = graph.users(id);
  return users.size() == 1 ? &graph.nodes()[static_cast<size_t>(users.front())] : nullptr;
}

size_t node_index(const Graph& graph, const Node& node) { return static_cast<size_t>(&node - graph.nodes().data()); }

Result<int64_t> rewrite_each(Graph& graph, ops::OpKind kind, Result<Replaced> (*rewrite)(Graph& graph, size_t index)) {
  int64_t changes = 0;
  const size_t count = graph.nodes().size();
  std::vector<bool> dead(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (ops::op_kind(graph.nodes()[i].desc) != kind) continue;
    CS_ASSIGN_OR_RETURN(const Replaced replaced, rewrite(graph, i));
    for (const size_t node : replaced) dead[node] = true;
    changes += !replaced.empty();
  }
  CS_RETURN_IF_ERROR(graph.tidy(dead));
  return changes;
}

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

Result<ValueId> concat(Graph& graph, const std::vector<size_t>& gemms, size_t input, std::string name) {
  std::vector<ValueId> parts;
  for (const size_t index : gemms) parts.push_back(graph.nodes()[index].inputs[input]);
  return graph.add1(std::move(name), ops::ConcatRowsDesc{}, std::move(parts));
}

}  // namespace

Result<Replaced> merge_gemms(Graph& graph, const std::vector<size_t>& gemms, const std::string& name, std::string note) {
  if (gemms.empty() || !mergeable(graph, gemms)) return Replaced();
  ops::GemmDesc desc = gemm_at(graph, gemms.front());
  const ValueId input = graph.nodes()[gemms.front()].inputs.front();
  std::vector<int64_t> columns;
  for (const size_t index : gemms) columns.push_back(gemm_at(graph, index).n);
  desc.n = 0;
  for (const int64_t n : columns) desc.n += n;

  std::vector<ValueId> inputs = {input};
  CS_ASSIGN_OR_RETURN(inputs.emplace_back(), concat(graph, gemms, 1, name + ".weight"));
  if (desc.bias) {
    CS_ASSIGN_OR_RETURN(inputs.emplace_back(), concat(graph, gemms, 2, name + ".bias"));
  }
  CS_ASSIGN_OR_RETURN(const ValueId merged, graph.add1(name, desc, inputs));
  graph.nodes().back().note = std::move(note);
  int64_t begin = 0;
  for (size_t i = 0; i < gemms.size(); ++i) {
    const std::string part = graph.nodes()[gemms[i]].name;
    CS_ASSIGN_OR_RETURN(const ValueId slice, graph.add1(part + ".slice", ops::SliceDesc{begin, columns[i]}, {merged}));
    graph.replace_uses(graph.nodes()[gemms[i]].outputs.front(), slice);
    begin += columns[i];
  }
  return gemms;
}

}  // namespace camshaft::compiler
