// The gate and up projections of a gated MLP read the same rows: one GEMM instead of two.
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Graph;
using graph::Node;

// {gate gemm, up gemm} of mul(silu(gate), up), in either order of the mul's inputs; else empty.
std::vector<size_t> projections(const Graph& graph, const Node& mul) {
  for (const size_t gated : {size_t{0}, size_t{1}}) {
    const Node* silu = producer_of<ops::SiluDesc>(graph, mul.inputs[gated]);
    if (silu == nullptr) continue;
    const Node* gate = producer_of<ops::GemmDesc>(graph, silu->inputs.front());
    const Node* up = producer_of<ops::GemmDesc>(graph, mul.inputs[1 - gated]);
    if (gate == nullptr || up == nullptr || gate == up) continue;
    if (single_user(graph, gate->outputs.front()) == nullptr || single_user(graph, up->outputs.front()) == nullptr) continue;
    return {node_index(graph, *gate), node_index(graph, *up)};
  }
  return {};
}

}  // namespace

Result<int64_t> merge_gate_up(Graph& graph, const CompileOptions&) {
  int64_t changes = 0;
  const size_t count = graph.nodes().size();
  std::vector<bool> dead(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (!std::holds_alternative<ops::MulDesc>(graph.nodes()[i].desc)) continue;
    const std::vector<size_t> gemms = projections(graph, graph.nodes()[i]);
    if (gemms.empty()) continue;
    const std::string name = graph.nodes()[gemms.front()].name + "_up";
    CS_ASSIGN_OR_RETURN(const auto merged, merge_gemms(graph, gemms, name, "merged gate and up"));
    if (!merged) continue;
    for (const size_t gemm : gemms) dead[gemm] = true;
    ++changes;
  }
  CS_RETURN_IF_ERROR(graph.tidy(dead));
  return changes;
}

}  // namespace camshaft::compiler
