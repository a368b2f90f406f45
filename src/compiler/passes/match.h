// Small questions that pattern-matching passes ask of a graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace camshaft::compiler {

// The node that makes `id` when its op is Desc, else nullptr.
template <typename Desc>
const graph::Node* producer_of(const graph::Graph& graph, graph::ValueId id) {
  const int32_t index = graph.value(id).producer;
  if (index < 0) return nullptr;
  const graph::Node& node = graph.nodes()[static_cast<size_t>(index)];
  return std::holds_alternative<Desc>(node.desc) ? &node : nullptr;
}

// The only node that reads `id`, or nullptr; graph outputs count as readers.
const graph::Node* single_user(const graph::Graph& graph, graph::ValueId id);
// Index of a node of graph.nodes().
size_t node_index(const graph::Graph& graph, const graph::Node& node);

// One gemm over the rows of several: y = x . concat(w)^T, each old output becomes a column slice of it. All gemms read the same
// input. Fails to match (nullopt) when formats, columns or biases differ.
struct MergedGemm {
  graph::ValueId output;
  std::vector<graph::ValueId> slices;
};
Result<std::optional<MergedGemm>> merge_gemms(graph::Graph& graph, const std::vector<size_t>& gemms, std::string name,
                                              std::string note);

}  // namespace camshaft::compiler
