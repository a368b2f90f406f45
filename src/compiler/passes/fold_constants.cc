// concat_rows over constants becomes one constant: matrices keep their segments, so that no byte moves until packing; vectors
// (biases, small) are copied end to end.
#include <optional>

#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Constant;
using graph::Graph;
using graph::Node;

Constant joined_vectors(const std::string& name, const std::vector<const Constant*>& parts) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  int64_t size = 0;
  for (const Constant* part : parts) {
    const auto from = part->segments.front().bytes;
    bytes->insert(bytes->end(), from.begin(), from.end());
    size += part->columns();
  }
  return {name, {{parts.front()->format(), {size}, *bytes}}, {bytes}};
}

Constant joined_matrices(const std::string& name, const std::vector<const Constant*>& parts) {
  Constant out{name, {}, {}};
  for (const Constant* part : parts) {
    out.segments.insert(out.segments.end(), part->segments.begin(), part->segments.end());
    out.storage.insert(out.storage.end(), part->storage.begin(), part->storage.end());
  }
  return out;
}

std::optional<Constant> concatenated(const Graph& graph, const Node& node) {
  std::vector<const Constant*> parts;
  for (const graph::ValueId id : node.inputs) {
    const auto& part = graph.value(id).constant;
    if (!part) return std::nullopt;
    parts.push_back(&*part);
  }
  const bool vectors = parts.front()->segments.front().shape.size() == 1;
  return vectors ? joined_vectors(node.name, parts) : joined_matrices(node.name, parts);
}

Result<Replaced> fold_at(Graph& graph, size_t index) {
  std::optional<Constant> constant = concatenated(graph, graph.nodes()[index]);
  if (!constant) return Replaced();
  const graph::ValueId old = graph.nodes()[index].outputs.front();
  graph.replace_uses(old, graph.add_constant(std::move(*constant)));
  return Replaced{index};
}

}  // namespace

Result<int64_t> fold_constants(Graph& graph, const CompileOptions&) {
  return rewrite_each(graph, ops::OpKind::kConcatRows, fold_at);
}

}  // namespace camshaft::compiler
