// The three projections of an attention block read the same rows: one GEMM instead of three.
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Graph;
using graph::Node;

// Through at most one rope, the gemm that makes a value; nullptr otherwise.
const Node* projection_of(const Graph& graph, graph::ValueId id) {
  if (const Node* rope = producer_of<ops::RopeDesc>(graph, id)) id = rope->inputs.front();
  return producer_of<ops::GemmDesc>(graph, id);
}

std::vector<size_t> projections(const Graph& graph, const Node& attention) {
  const Node* write = producer_of<ops::KvWriteDesc>(graph, attention.inputs[1]);
  if (write == nullptr) return {};
  std::vector<size_t> gemms;
  for (const graph::ValueId id : {attention.inputs[0], write->inputs[0], write->inputs[1]}) {
    const Node* gemm = projection_of(graph, id);
    if (gemm == nullptr || single_user(graph, gemm->outputs.front()) == nullptr) return {};
    gemms.push_back(node_index(graph, *gemm));
  }
  return gemms;
}

std::string block_name(const std::string& attention_name) {
  const size_t dot = attention_name.rfind('.');
  return dot == std::string::npos ? attention_name : attention_name.substr(0, dot);
}

Result<Replaced> merge_at(Graph& graph, size_t attention) {
  const Node& node = graph.nodes()[attention];
  return merge_gemms(graph, projections(graph, node), block_name(node.name) + ".qkv", "merged q, k and v");
}

}  // namespace

Result<int64_t> merge_qkv(Graph& graph, const CompileOptions&) { return rewrite_each(graph, ops::OpKind::kAttention, merge_at); }

}  // namespace camshaft::compiler
