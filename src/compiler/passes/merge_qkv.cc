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

}  // namespace

Result<int64_t> merge_qkv(Graph& graph, const CompileOptions&) {
  int64_t changes = 0;
  const size_t count = graph.nodes().size();
  std::vector<bool> dead(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (!std::holds_alternative<ops::AttentionDesc>(graph.nodes()[i].desc)) continue;
    const std::vector<size_t> gemms = projections(graph, graph.nodes()[i]);
    if (gemms.empty()) continue;
    const std::string name = block_name(graph.nodes()[i].name) + ".qkv";
    CS_ASSIGN_OR_RETURN(const auto merged, merge_gemms(graph, gemms, name, "merged q, k and v"));
    if (!merged) continue;
    for (const size_t gemm : gemms) dead[gemm] = true;
    ++changes;
  }
  CS_RETURN_IF_ERROR(graph.tidy(dead));
  return changes;
}

}  // namespace camshaft::compiler
