// Building and rewriting graphs. Values and nodes are plain vectors; an id is an index and stays valid until tidy().
#include "graph/graph.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace camshaft::graph {
namespace {

ops::ValueType constant_type(const Constant& constant) {
  CS_CHECK(!constant.segments.empty(), constant.name);
  ops::ValueType type{ops::ValueType::Kind::kWeight, {}, constant.format()};
  for (const int64_t size : constant.segments.front().shape) type.shape.push_back(ops::Dim::fixed(size));
  if (type.shape.size() == 2) type.shape[0].size = constant.rows();
  return type;
}

// N of "%hN", or -1.
int64_t auto_number(std::string_view name) {
  int64_t number = -1;
  if (!name.starts_with("%h")) return -1;
  const auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

void replace(std::vector<ValueId>& ids, ValueId from, ValueId to) { std::replace(ids.begin(), ids.end(), from, to); }

// Live nodes in an order where producers stand first; otherwise as they were. Depth first with its own stack: chains may be long.
Result<std::vector<int32_t>> topological_order(const std::vector<Node>& nodes, const std::vector<int32_t>& producers,
                                               const std::vector<bool>& dead) {
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(nodes.size(), State::kNew);
  std::vector<int32_t> order;
  std::vector<std::pair<int32_t, size_t>> stack;  // node, its next input to look at
  for (int32_t root = 0; root < static_cast<int32_t>(nodes.size()); ++root) {
    if (!dead[static_cast<size_t>(root)] && states[static_cast<size_t>(root)] == State::kNew) stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [index, next] = stack.back();
      const Node& node = nodes[static_cast<size_t>(index)];
      states[static_cast<size_t>(index)] = State::kOpen;
      if (next == node.inputs.size()) {
        states[static_cast<size_t>(index)] = State::kDone;
        order.push_back(index);
        stack.pop_back();
        continue;
      }
      const int32_t producer = producers[static_cast<size_t>(node.inputs[next++])];
      if (producer < 0 || states[static_cast<size_t>(producer)] == State::kDone) continue;
      const std::string& maker = nodes[static_cast<size_t>(producer)].name;
      if (dead[static_cast<size_t>(producer)]) {
        return base::internal_error(format("node '{}' reads the removed node '{}'", node.name, maker));
      }
      if (states[static_cast<size_t>(producer)] == State::kOpen) {
        return base::internal_error(format("nodes '{}' and '{}' read each other", node.name, maker));
      }
      stack.emplace_back(producer, 0);
    }
  }
  return order;
}

}  // namespace

int64_t Constant::rows() const {
  int64_t rows = 0;
  for (const tensor::TensorView& segment : segments) rows += segment.rows();
  return rows;
}

const std::byte* Constant::row(int64_t row) const {
  for (const tensor::TensorView& segment : segments) {
    if (row < segment.rows()) return segment.bytes.data() + row * segment.row_bytes();
    row -= segment.rows();
  }
  CS_CHECK(false, name);
}

ValueId Graph::add_input(std::string name, ops::ValueType type) {
  values_.push_back({"%" + std::move(name), std::move(type), -1, std::nullopt});
  inputs_.push_back(num_values() - 1);
  return inputs_.back();
}

ValueId Graph::add_constant(Constant constant) {
  ops::ValueType type = constant_type(constant);
  std::string name = constant.name;
  values_.push_back({std::move(name), std::move(type), -1, std::move(constant)});
  return num_values() - 1;
}

Result<std::vector<ValueId>> Graph::add(std::string name, ops::OpDesc desc, std::vector<ValueId> inputs) {
  std::vector<ops::ValueType> types;
  for (const ValueId id : inputs) {
    CS_CHECK(id >= 0 && id < num_values(), name);
    types.push_back(value(id).type);
  }
  auto inferred = ops::infer_types(desc, types);
  if (!inferred.ok()) return std::move(inferred).status().with_context(name);
  std::vector<ValueId> outputs;
  for (ops::ValueType& type : *inferred) {
    outputs.push_back(num_values());
    values_.push_back({format("%h{}", next_name_++), std::move(type), static_cast<int32_t>(nodes_.size()), std::nullopt});
  }
  nodes_.push_back({std::move(name), std::move(desc), std::move(inputs), outputs, {}});
  return outputs;
}

Result<ValueId> Graph::add1(std::string name, ops::OpDesc desc, std::vector<ValueId> inputs) {
  CS_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, add(std::move(name), std::move(desc), std::move(inputs)));
  CS_CHECK(outputs.size() == 1, nodes_.back().name);
  return outputs.front();
}

void Graph::rename(ValueId id, std::string name) {
  next_name_ = std::max(next_name_, auto_number(name) + 1);
  value(id).name = std::move(name);
}

std::vector<int32_t> Graph::users(ValueId id) const {
  std::vector<int32_t> out;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto& inputs = nodes_[i].inputs;
    if (std::find(inputs.begin(), inputs.end(), id) != inputs.end()) out.push_back(static_cast<int32_t>(i));
  }
  return out;
}

void Graph::replace_uses(ValueId from, ValueId to) {
  for (Node& node : nodes_) replace(node.inputs, from, to);
  replace(outputs_, from, to);
}

Status Graph::tidy(const std::vector<bool>& dead_nodes) {
  std::vector<bool> dead = dead_nodes;
  dead.resize(nodes_.size(), false);
  std::vector<int32_t> producers;
  for (const Value& value : values_) producers.push_back(value.producer);
  for (const ValueId id : outputs_) {
    const int32_t producer = producers[static_cast<size_t>(id)];
    if (producer < 0 || !dead[static_cast<size_t>(producer)]) continue;
    return base::internal_error(
        format("output {} comes from the removed node '{}'", value(id).name, nodes_[static_cast<size_t>(producer)].name));
  }
  CS_ASSIGN_OR_RETURN(const std::vector<int32_t> order, topological_order(nodes_, producers, dead));

  std::vector<Node> nodes;
  for (const int32_t index : order) nodes.push_back(std::move(nodes_[static_cast<size_t>(index)]));
  nodes_ = std::move(nodes);
  drop_unnamed_values();
  return base::ok_status();
}

void Graph::drop_unnamed_values() {
  std::vector<bool> named(values_.size(), false);
  const auto name_all = [&](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) named[static_cast<size_t>(id)] = true;
  };
  name_all(inputs_);
  name_all(outputs_);
  for (const Node& node : nodes_) {
    name_all(node.inputs);
    name_all(node.outputs);
  }
  std::vector<Value> values;
  std::vector<ValueId> moved(values_.size(), kNoValue);
  for (size_t i = 0; i < values_.size(); ++i) {
    if (!named[i]) continue;
    moved[i] = static_cast<ValueId>(values.size());
    values.push_back(std::move(values_[i]));
  }
  values_ = std::move(values);
  const auto renumber = [&](std::vector<ValueId>& ids) {
    for (ValueId& id : ids) id = moved[static_cast<size_t>(id)];
  };
  renumber(inputs_);
  renumber(outputs_);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    renumber(nodes_[i].inputs);
    renumber(nodes_[i].outputs);
    for (const ValueId id : nodes_[i].outputs) value(id).producer = static_cast<int32_t>(i);
  }
}

}  // namespace camshaft::graph
