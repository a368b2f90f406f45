// mul(silu(gate), up) becomes swiglu; over the two halves of one merged projection it reads that projection directly.
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

// The merged projection whose first half is `gate` and second half `up`, or kNoValue.
ValueId merged_halves(const Graph& graph, ValueId gate, ValueId up, int64_t columns) {
  const Node* first = producer_of<ops::SliceDesc>(graph, gate);
  const Node* second = producer_of<ops::SliceDesc>(graph, up);
  if (first == nullptr || second == nullptr || first->inputs.front() != second->inputs.front()) return graph::kNoValue;
  const auto& a = std::get<ops::SliceDesc>(first->desc);
  const auto& b = std::get<ops::SliceDesc>(second->desc);
  const int64_t width = graph.value(first->inputs.front()).type.shape.back().size;
  return a.begin == 0 && b.begin == columns && width == 2 * columns ? first->inputs.front() : graph::kNoValue;
}

Result<Replaced> fuse_at(Graph& graph, size_t index) {
  const Node& mul = graph.nodes()[index];
  const int64_t columns = std::get<ops::MulDesc>(mul.desc).columns;
  const ValueId old = mul.outputs.front();
  const std::string name = mul.name;
  for (const size_t gated : {size_t{0}, size_t{1}}) {
    const Node* silu = producer_of<ops::SiluDesc>(graph, mul.inputs[gated]);
    if (silu == nullptr || single_user(graph, silu->outputs.front()) == nullptr) continue;
    const ValueId gate = silu->inputs.front();
    const ValueId up = mul.inputs[1 - gated];
    const ValueId merged = merged_halves(graph, gate, up, columns);
    const bool is_merged = merged != graph::kNoValue;
    const std::vector<ValueId> inputs = is_merged ? std::vector<ValueId>{merged} : std::vector<ValueId>{gate, up};
    CS_ASSIGN_OR_RETURN(const ValueId fused, graph.add1(name, ops::SwigluDesc{columns, is_merged}, inputs));
    graph.nodes().back().note = "fused silu and multiply";
    graph.replace_uses(old, fused);
    return Replaced{index};
  }
  return Replaced();
}

}  // namespace

Result<int64_t> fuse_swiglu(Graph& graph, const CompileOptions&) { return rewrite_each(graph, ops::OpKind::kMul, fuse_at); }

}  // namespace camshaft::compiler
