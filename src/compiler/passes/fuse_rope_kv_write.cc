// rope(q), rope(k) and kv_write over the slices of one merged projection become one op that reads the merged rows once.
#include <optional>

#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

struct Match {
  ValueId merged;  // [T, (heads + 2 kv_heads) * head_dim]
  size_t rope_q, rope_k, write;
  ValueId q;  // rope(q)'s output
};

const Node* slice_of(const Graph& graph, ValueId id, int64_t begin, int64_t columns) {
  const Node* node = producer_of<ops::SliceDesc>(graph, id);
  if (node == nullptr) return nullptr;
  const auto& slice = std::get<ops::SliceDesc>(node->desc);
  return slice.begin == begin && slice.columns == columns ? node : nullptr;
}

std::optional<Match> match_attention(const Graph& graph, const Node& attention) {
  const Node* rope_q = producer_of<ops::RopeDesc>(graph, attention.inputs[0]);
  const Node* write = producer_of<ops::KvWriteDesc>(graph, attention.inputs[1]);
  if (rope_q == nullptr || write == nullptr) return std::nullopt;
  const Node* rope_k = producer_of<ops::RopeDesc>(graph, write->inputs[0]);
  if (rope_k == nullptr) return std::nullopt;
  const auto& q = std::get<ops::RopeDesc>(rope_q->desc);
  const auto& k = std::get<ops::RopeDesc>(rope_k->desc);
  if (!(q.rope == k.rope)) return std::nullopt;
  if (single_user(graph, rope_q->outputs.front()) == nullptr || single_user(graph, rope_k->outputs.front()) == nullptr)
    return std::nullopt;
  // The fused op knows one head size, and rows of q, k and v and nothing else.
  const ops::KvShape& kv = std::get<ops::KvWriteDesc>(write->desc).kv;
  if (q.rope.head_dim != kv.head_dim || k.heads != kv.kv_heads) return std::nullopt;
  const int64_t q_columns = q.heads * q.rope.head_dim;
  const int64_t k_columns = k.heads * k.rope.head_dim;
  const Node* slices[] = {slice_of(graph, rope_q->inputs[0], 0, q_columns),
                          slice_of(graph, rope_k->inputs[0], q_columns, k_columns),
                          slice_of(graph, write->inputs[1], q_columns + k_columns, k_columns)};
  for (const Node* slice : slices) {
    if (slice == nullptr || slice->inputs.front() != slices[0]->inputs.front()) return std::nullopt;
  }
  if (graph.value(slices[0]->inputs.front()).type.shape.back().size != q_columns + 2 * k_columns) return std::nullopt;
  return Match{slices[0]->inputs.front(), node_index(graph, *rope_q), node_index(graph, *rope_k), node_index(graph, *write),
               rope_q->outputs.front()};
}

Result<Replaced> fuse_at(Graph& graph, size_t index) {
  const std::optional<Match> match = match_attention(graph, graph.nodes()[index]);
  if (!match) return Replaced();
  const Node& rope_q = graph.nodes()[match->rope_q];
  const Node& write = graph.nodes()[match->write];
  const auto& q = std::get<ops::RopeDesc>(rope_q.desc);
  const ops::RopeKvWriteDesc desc{q.heads, q.rope, std::get<ops::KvWriteDesc>(write.desc).kv};
  const ValueId old_state = write.outputs.front();
  const std::string name = write.name;
  CS_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, graph.add(name, desc, {match->merged}));
  graph.nodes().back().note = "fused rope of q and k with the cache write";
  graph.replace_uses(match->q, outputs[0]);
  graph.replace_uses(old_state, outputs[1]);
  return Replaced{match->rope_q, match->rope_k, match->write};
}

}  // namespace

Result<int64_t> fuse_rope_kv_write(Graph& graph, const CompileOptions&) {
  return rewrite_each(graph, ops::OpKind::kAttention, fuse_at);
}

}  // namespace camshaft::compiler
