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

Result<Replaced> merge_at(Graph& graph, size_t mul) {
  const std::vector<size_t> gemms = projections(graph, graph.nodes()[mul]);
  if (gemms.empty()) return gemms;
  return merge_gemms(graph, gemms, graph.nodes()[gemms.front()].name + "_up", "merged gate and up");
}

}  // namespace

Result<int64_t> merge_gate_up(Graph& graph, const CompileOptions&) { return rewrite_each(graph, ops::OpKind::kMul, merge_at); }

}  // namespace camshaft::compiler
