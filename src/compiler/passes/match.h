// What pattern-matching passes share: small questions to a graph, the loop over its nodes, and merging gemms.
#pragma once

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

// Indices of the nodes that a rewriting made superfluous; none where it found nothing to do.
using Replaced = std::vector<size_t>;
// Rewrites around each node of this kind that stands in the graph at the start, drops what was replaced, and returns how many
// places changed. `rewrite` appends nodes and redirects uses; it removes nothing.
Result<int64_t> rewrite_each(graph::Graph& graph, ops::OpKind kind, Result<Replaced> (*rewrite)(graph::Graph& graph, size_t index));

// One gemm over the rows of several: y = x . concat(w)^T, each old output becomes a column slice of it. All gemms read the same
// input. Replaces all of them, or none where there are none or formats, columns or biases differ.
Result<Replaced> merge_gemms(graph::Graph& graph, const std::vector<size_t>& gemms, const std::string& name, std::string note);

}  // namespace camshaft::compiler
