// A residual add and the norm that reads its sum become one op with both outputs: the rows pass through memory once.
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

Result<Replaced> fuse_at(Graph& graph, size_t index) {
  const Node& norm = graph.nodes()[index];
  const Node* add = producer_of<ops::AddDesc>(graph, norm.inputs.front());
  if (add == nullptr) return Replaced();
  const size_t add_index = node_index(graph, *add);
  const auto& norm_desc = std::get<ops::RmsNormDesc>(norm.desc);
  const ops::AddRmsNormDesc desc{norm_desc.hidden, norm_desc.eps};
  const ValueId old_norm = norm.outputs.front();
  const ValueId old_sum = add->outputs.front();
  const std::string name = norm.name;
  CS_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, graph.add(name, desc, {add->inputs[0], add->inputs[1], norm.inputs[1]}));
  graph.nodes().back().note = "fused residual add and norm";
  graph.replace_uses(old_norm, outputs[0]);
  graph.replace_uses(old_sum, outputs[1]);
  return Replaced{index, add_index};
}

}  // namespace

Result<int64_t> fuse_add_norm(Graph& graph, const CompileOptions&) { return rewrite_each(graph, ops::OpKind::kRmsNorm, fuse_at); }

}  // namespace camshaft::compiler
