// Graph: the IR. Nodes over ops in topological order, values by index, constants as views on bytes somebody else owns.
// Building never mixes with running: adding a node checks types and that is all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "ops/op.h"
#include "tensor/tensor_view.h"

namespace camshaft::graph {

using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

// A weight: one or more row ranges, each a dense view of the same format and column count, one after the other (merged weights are
// several segments, never a copy). A vector (a bias, a norm's weight) has one segment of one dimension. `storage` keeps bytes alive
// that no checkpoint owns.
struct Constant {
  std::string name;  // "blk.0.attn_q.weight", "layers.0.qkv"
  std::vector<tensor::TensorView> segments;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> storage;

  tensor::Format format() const { return segments.front().format; }
  int64_t rows() const;
  int64_t columns() const { return segments.front().columns(); }
  // Bytes of row `row` (in format()).
  const std::byte* row(int64_t row) const;
};

struct Value {
  std::string name;  // unique; "%h3", or the constant's name
  ops::ValueType type;
  int32_t producer = -1;  // node index; -1: graph input or constant
  std::optional<Constant> constant;
};

struct Node {
  std::string name;  // where it stems from: "layers.3.mlp.down"
  ops::OpDesc desc;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::string note;  // what passes did here: "merged q, k, v"; for the build report
};

class Graph {
 public:
  // `name` without the "%".
  ValueId add_input(std::string name, ops::ValueType type);
  ValueId add_constant(Constant constant);
  // Infers the outputs' types and appends the node. Errors are those of ops::infer_types with the node's name in front.
  Result<std::vector<ValueId>> add(std::string name, ops::OpDesc desc, std::vector<ValueId> inputs);
  // For ops with one output.
  Result<ValueId> add1(std::string name, ops::OpDesc desc, std::vector<ValueId> inputs);
  // New values are named %h0, %h1, ...; this gives one another name and keeps later ones clear of it.
  void rename(ValueId id, std::string name);
  void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }

  const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<Node>& nodes() { return nodes_; }
  const Value& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }
  Value& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  int32_t num_values() const { return static_cast<int32_t>(values_.size()); }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }

  // Nodes that read the value, in order.
  std::vector<int32_t> users(ValueId id) const;
  void replace_uses(ValueId from, ValueId to);
  // Rebuilds the node list without the marked ones and without values nobody names any more; topological order is restored.
  // For passes: insert by appending, then call this.
  Status tidy(const std::vector<bool>& dead_nodes);

 private:
  void drop_unnamed_values();

  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  int64_t next_name_ = 0;
};

// Every rule of a well-formed graph: types agree, defined before use, names unique, outputs exist, one kv_write a layer...
Status verify(const Graph& graph);

// Text form: one line an input, constant or node, then the outputs; `#` starts what a node is called and what passes did:
//   input %ids : ids [T]
//   const blk.0.attn_q.weight : weight q4_1 [576, 576]
//   %h1 = gemm(%h0, blk.0.attn_q.weight) n=576 k=576 weight=q4_1 activation=f32 : f32 [T, 576]  # layers.0.q
//   return %h1
// Constants stand by name, format and shape (merged ones with the rows of their segments); parse() reads it back (constants come
// without bytes unless `constants` resolves their names). print(parse(t)) == t.
std::string print(const Graph& graph);
using ConstantResolver = Result<Constant> (*)(std::string_view name, void* state);
Result<Graph> parse(std::string_view text, ConstantResolver resolver = nullptr, void* state = nullptr);

}  // namespace camshaft::graph
