// Weights: takes a checkpoint's tensors into a graph as constants, checks their shapes, and knows at the end which were never asked
// for.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "checkpoint/checkpoint.h"
#include "graph/graph.h"

namespace camshaft::models {

class Weights {
 public:
  // Both outlive this.
  Weights(const checkpoint::Checkpoint& checkpoint, graph::Graph& graph) : checkpoint_(checkpoint), graph_(graph) {}

  // [rows, columns] in the file's own format, as a view. The same name twice is the same constant.
  Result<graph::ValueId> matrix(const std::string& name, int64_t rows, int64_t columns);
  // [size] as f32, which kernels want of norms and biases; other formats are converted into storage of the constant.
  Result<graph::ValueId> vector(const std::string& name, int64_t size);
  // A tensor that is known and needs no constant.
  void ignore(std::string_view name) { used_.emplace(name, graph::kNoValue); }
  // Refuses the first tensor that nobody asked for, so that nothing of the model is silently left out.
  Status all_used() const;

 private:
  Result<const checkpoint::NamedTensor*> find(const std::string& name, const tensor::Shape& shape) const;

  const checkpoint::Checkpoint& checkpoint_;
  graph::Graph& graph_;
  std::map<std::string, graph::ValueId, std::less<>> used_;
};

}  // namespace camshaft::models
