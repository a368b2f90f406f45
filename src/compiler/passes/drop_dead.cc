// Nodes that nothing reads go.
#include "compiler/passes/passes.h"

namespace camshaft::compiler {

Result<int64_t> drop_dead(graph::Graph& graph, const CompileOptions&) {
  std::vector<bool> wanted(static_cast<size_t>(graph.num_values()), false);
  for (const graph::ValueId id : graph.outputs()) wanted[static_cast<size_t>(id)] = true;
  std::vector<bool> dead(graph.nodes().size(), true);
  int64_t changes = static_cast<int64_t>(dead.size());
  for (size_t i = dead.size(); i-- > 0;) {
    const graph::Node& node = graph.nodes()[i];
    for (const graph::ValueId id : node.outputs) dead[i] = dead[i] && !wanted[static_cast<size_t>(id)];
    if (dead[i]) continue;
    --changes;
    for (const graph::ValueId id : node.inputs) wanted[static_cast<size_t>(id)] = true;
  }
  CS_RETURN_IF_ERROR(graph.tidy(dead));
  return changes;
}

}  // namespace camshaft::compiler
