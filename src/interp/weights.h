// WeightStore: a graph's constants as its kernels want them in memory. Plain rows are used where they lie; everything else is
// packed once, also where several nodes share it.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "interp/memory.h"
#include "kernels/kernel.h"

namespace camshaft::interp {

class WeightStore {
 public:
  explicit WeightStore(const graph::Graph& graph) : graph_(graph) {}

  // The bytes of a matrix in `layout`, valid as long as this and the graph.
  Result<const void*> matrix(graph::ValueId id, const kernels::WeightLayout* layout);
  // The numbers of an f32 vector.
  Result<const void*> vector(graph::ValueId id);
  // Joins the constants of a concat_rows node; its output is a weight like others from then on.
  Status fold_concat(const graph::Node& node);

 private:
  Result<const graph::Constant*> find(graph::ValueId id) const;

  const graph::Graph& graph_;
  std::map<graph::ValueId, graph::Constant> folded_;
  std::map<std::pair<graph::ValueId, const kernels::WeightLayout*>, AlignedBytes> packed_;
};

}  // namespace camshaft::interp
