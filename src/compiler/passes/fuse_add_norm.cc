// A residual add and the norm that reads its sum become one op with both outputs: the rows pass through memory once.
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

Result<bool> fuse_at(Graph& graph, size_t index) {
  const Node& norm = graph.nodes()[index];
  const Node* add = producer_of<ops::AddDesc>(graph, norm.inputs.front());
  if (add == nullptr) return false;
  const auto& norm_desc = std::get<ops::RmsNormDesc>(norm.desc);
  const ops::AddRmsNormDesc desc{norm_desc.hidden, norm_desc.eps};
  const ValueId old_norm = norm.outputs.front();
  const ValueId old_sum = add->outputs.front();
  const std::string name = norm.name;
  CS_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, graph.add(name, desc, {add->inputs[0], add->inputs[1], norm.inputs[1]}));
  graph.nodes().back().note = "fused residual add and norm";
  graph.replace_uses(old_norm, outputs[0]);
  graph.replace_uses(old_sum, outputs[1]);
  return true;
}

}  // namespace

Result<int64_t> fuse_add_norm(Graph& graph, const CompileOptions&) {
  int64_t changes = 0;
  const size_t count = graph.nodes().size();
  std::vector<bool> dead(count, false);
  for (size_t i = 0; i < count; ++i) {
    const Node& node = graph.nodes()[i];
    if (!std::holds_alternative<ops::RmsNormDesc>(node.desc)) continue;
    const Node* add = producer_of<ops::AddDesc>(graph, node.inputs.front());
    const size_t add_index = add == nullptr ? 0 : node_index(graph, *add);
    // An add whose norm was fused already has no node of its own left to fuse.
    if (add == nullptr || dead[add_index]) continue;
    CS_ASSIGN_OR_RETURN(const bool fused, fuse_at(graph, i));
    if (!fused) continue;
    dead[i] = dead[add_index] = true;
    ++changes;
  }
  CS_RETURN_IF_ERROR(graph.tidy(dead));
  return changes;
}

}  // namespace camshaft::compiler
