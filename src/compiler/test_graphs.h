// For the compiler's tests: graphs from text whose constants have bytes, all zero.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/format.h"
#include "graph/graph.h"

namespace camshaft::compiler {

// parse() without a resolver knows shapes and segments; the bytes are put in afterwards.
inline Result<graph::Graph> parse_zeros(std::string_view text) {
  CS_ASSIGN_OR_RETURN(graph::Graph graph, graph::parse(text));
  for (graph::ValueId id = 0; id < graph.num_values(); ++id) {
    auto& constant = graph.value(id).constant;
    if (!constant) continue;
    for (tensor::TensorView& segment : constant->segments) {
      auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(segment.rows() * segment.row_bytes()));
      segment.bytes = *bytes;
      constant->storage.push_back(std::move(bytes));
    }
  }
  return graph;
}

}  // namespace camshaft::compiler
