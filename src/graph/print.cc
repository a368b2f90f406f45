// Writes a graph's text form. parse.cc reads it.
#include "base/format.h"
#include "graph/graph.h"

namespace camshaft::graph {
namespace {

std::string name_list(const Graph& graph, const std::vector<ValueId>& ids) {
  std::string out;
  for (const ValueId id : ids) out += (out.empty() ? "" : ", ") + graph.value(id).name;
  return out;
}

std::string constant_line(const Value& value) {
  std::string out = format("const {} : {}", value.name, ops::type_text(value.type));
  const auto& segments = value.constant->segments;
  for (size_t i = 0; segments.size() > 1 && i < segments.size(); ++i)
    out += format("{}{}", i == 0 ? " rows " : " + ", segments[i].rows());
  return out + "\n";
}

std::string node_line(const Graph& graph, const Node& node) {
  std::string out =
      name_list(graph, node.outputs) + format(" = {}({})", ops::op_name(ops::op_kind(node.desc)), name_list(graph, node.inputs));
  const std::string fields = ops::desc_text(node.desc);
  if (!fields.empty()) out += " " + fields;
  out += " : ";
  for (size_t i = 0; i < node.outputs.size(); ++i) out += (i == 0 ? "" : "; ") + ops::type_text(graph.value(node.outputs[i]).type);
  out += "  # " + node.name;
  if (!node.note.empty()) out += "; " + node.note;
  return out + "\n";
}

}  // namespace

std::string print(const Graph& graph) {
  std::string out;
  for (const ValueId id : graph.inputs())
    out += format("input {} : {}\n", graph.value(id).name, ops::type_text(graph.value(id).type));
  for (ValueId id = 0; id < graph.num_values(); ++id) {
    if (graph.value(id).constant) out += constant_line(graph.value(id));
  }
  for (const Node& node : graph.nodes()) out += node_line(graph, node);
  return out + format("return {}\n", name_list(graph, graph.outputs()));
}

}  // namespace camshaft::graph
