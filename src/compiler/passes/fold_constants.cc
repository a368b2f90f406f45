// concat_rows over constants becomes one constant of several segments: no byte moves until packing.
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Constant;
using graph::Graph;
using graph::Node;

std::optional<Constant> concatenated(const Graph& graph, const Node& node) {
  Constant out;
  out.name = node.name;
  for (const graph::ValueId id : node.inputs) {
    const auto& part = graph.value(id).constant;
    if (!part) return std::nullopt;
    out.segments.insert(out.segments.end(), part->segments.begin(), part->segments.end());
    out.storage.insert(out.storage.end(), part->storage.begin(), part->storage.end());
  }
  return out;
}

}  // namespace

Result<int64_t> fold_constants(Graph& graph, const CompileOptions&) {
  int64_t changes = 0;
  std::vector<bool> dead(graph.nodes().size(), false);
  for (size_t i = 0; i < dead.size(); ++i) {
    if (!std::holds_alternative<ops::ConcatRowsDesc>(graph.nodes()[i].desc)) continue;
    std::optional<Constant> constant = concatenated(graph, graph.nodes()[i]);
    if (!constant) continue;
    const graph::ValueId old = graph.nodes()[i].outputs.front();
    graph.replace_uses(old, graph.add_constant(std::move(*constant)));
    dead[i] = true;
    ++changes;
  }
  CS_RETURN_IF_ERROR(graph.tidy(dead));
  return changes;
}

}  // namespace camshaft::compiler
