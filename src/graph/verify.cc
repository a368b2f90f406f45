// The rules of a well-formed graph. Run after building, after parsing and, in debug builds, after every pass.
#include <algorithm>
#include <map>
#include <set>

#include "base/format.h"
#include "graph/graph.h"

namespace camshaft::graph {
namespace {

using Kind = ops::ValueType::Kind;

Status broken(std::string message) { return base::invalid_argument("graph: " + message); }

// Names are what the text form can hold: no blanks, no punctuation that separates.
bool is_word(std::string_view name) {
  const auto bad = [](char c) { return c <= ' ' || c == 0x7f || std::string_view(",()#=:;").find(c) != std::string_view::npos; };
  return !name.empty() && std::none_of(name.begin(), name.end(), bad);
}

Status verify_constant(const Constant& constant) {
  const std::string& name = constant.name;
  if (constant.segments.empty()) return broken(format("constant '{}' has no segments", name));
  const size_t rank = constant.segments.front().shape.size();
  if (rank != 1 && rank != 2) return broken(format("constant '{}' has {} dimensions; 1 or 2 are allowed", name, rank));
  if (rank == 1 && constant.segments.size() != 1)
    return broken(format("constant '{}' is a vector in {} segments", name, constant.segments.size()));
  for (const tensor::TensorView& segment : constant.segments) {
    for (const int64_t size : segment.shape) {
      if (size < 1 || size > INT32_MAX) return broken(format("constant '{}' is {}", name, tensor::shape_text(segment.shape)));
    }
    if (segment.format != constant.format() || segment.shape.size() != rank || segment.columns() != constant.columns()) {
      return broken(format("constant '{}' joins {} {} and {} {}", name, tensor::format_info(constant.format()).name,
                           tensor::shape_text(constant.segments.front().shape), tensor::format_info(segment.format).name,
                           tensor::shape_text(segment.shape)));
    }
    const int64_t expected = segment.rows() * segment.row_bytes();
    const auto found = static_cast<int64_t>(segment.bytes.size());
    if (found != 0 && found != expected)
      return broken(format("constant '{}' has {} bytes, its shape needs {}", name, found, expected));
  }
  return base::ok_status();
}

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(static_cast<size_t>(graph.num_values()), false) {}

  Status run() {
    CS_RETURN_IF_ERROR(values());
    CS_RETURN_IF_ERROR(inputs());
    for (size_t i = 0; i < graph_.nodes().size(); ++i) CS_RETURN_IF_ERROR(node(i));
    return outputs();
  }

 private:
  bool exists(ValueId id) const { return id >= 0 && id < graph_.num_values(); }

  Status values() {
    std::set<std::string_view> names;
    for (ValueId id = 0; id < graph_.num_values(); ++id) {
      const Value& value = graph_.value(id);
      const bool constant = value.constant.has_value();
      if (!is_word(value.name) || value.name.starts_with('%') == constant)
        return broken(format("'{}' is no name for a {}", value.name, constant ? "constant" : "value"));
      if (!names.insert(value.name).second) return broken(format("two values are named '{}'", value.name));
      if (constant) CS_RETURN_IF_ERROR(verify_constant(*value.constant));
      if (constant) defined_[static_cast<size_t>(id)] = true;
    }
    return base::ok_status();
  }

  Status inputs() {
    for (const ValueId id : graph_.inputs()) {
      if (!exists(id)) return broken(format("input {} does not exist", id));
      const Value& value = graph_.value(id);
      const bool allowed = value.type.kind == Kind::kRows || value.type.kind == Kind::kIds || value.type.kind == Kind::kRowIndex;
      if (!allowed)
        return broken(
            format("input {} is {}; only rows, ids and row indices come from outside", value.name, ops::type_text(value.type)));
      CS_RETURN_IF_ERROR(define(id, -1, "the inputs"));
    }
    return base::ok_status();
  }

  Status define(ValueId id, int32_t producer, std::string_view where) {
    if (!exists(id)) return broken(format("{} makes value {}, which does not exist", where, id));
    const Value& value = graph_.value(id);
    if (defined_[static_cast<size_t>(id)]) return broken(format("{} makes {} a second time", where, value.name));
    if (value.producer != producer)
      return broken(format("{} makes {}, whose producer is said to be node {}", where, value.name, value.producer));
    defined_[static_cast<size_t>(id)] = true;
    return base::ok_status();
  }

  Status node(size_t index) {
    const Node& node = graph_.nodes()[index];
    if (!is_word(node.name)) return broken(format("'{}' is no name for a node", node.name));
    if (node.note.find('\n') != std::string::npos) return broken(format("the note of '{}' has a line break", node.name));
    std::vector<ops::ValueType> types;
    for (const ValueId id : node.inputs) {
      if (!exists(id)) return broken(format("node '{}' reads value {}, which does not exist", node.name, id));
      if (!defined_[static_cast<size_t>(id)])
        return broken(format("node '{}' reads {} before it is made", node.name, graph_.value(id).name));
      types.push_back(graph_.value(id).type);
    }
    auto inferred = ops::infer_types(node.desc, types);
    if (!inferred.ok()) return std::move(inferred).status().with_context(format("graph: node '{}'", node.name));
    if (inferred->size() != node.outputs.size())
      return broken(format("node '{}' has {} outputs, expected {}", node.name, node.outputs.size(), inferred->size()));
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      CS_RETURN_IF_ERROR(define(node.outputs[i], static_cast<int32_t>(index), format("node '{}'", node.name)));
      CS_RETURN_IF_ERROR(same_type(node.outputs[i], (*inferred)[i]));
    }
    return cache_writes(node);
  }

  Status same_type(ValueId id, const ops::ValueType& expected) const {
    const Value& value = graph_.value(id);
    if (value.type == expected) return base::ok_status();
    return broken(format("{} is {}, its node makes {}", value.name, ops::type_text(value.type), ops::type_text(expected)));
  }

  // One writer a layer, and one shape for the whole cache.
  Status cache_writes(const Node& node) {
    const auto* plain = std::get_if<ops::KvWriteDesc>(&node.desc);
    const auto* fused = std::get_if<ops::RopeKvWriteDesc>(&node.desc);
    if (plain == nullptr && fused == nullptr) return base::ok_status();
    const ops::KvShape kv = plain != nullptr ? plain->kv : fused->kv;
    const auto [first, fresh] = writers_.emplace(kv.layer, &node);
    if (!fresh)
      return broken(format("nodes '{}' and '{}' both write the cache of layer {}", first->second->name, node.name, kv.layer));
    if (!cache_) cache_ = kv;
    if (cache_->kv_heads == kv.kv_heads && cache_->head_dim == kv.head_dim) return base::ok_status();
    return broken(format("the cache has {} heads of {} in layer {} and {} of {} in layer {}", cache_->kv_heads, cache_->head_dim,
                         cache_->layer, kv.kv_heads, kv.head_dim, kv.layer));
  }

  Status outputs() {
    if (graph_.outputs().empty()) return broken("there is no output");
    std::set<ValueId> seen;
    for (const ValueId id : graph_.outputs()) {
      if (!exists(id) || !defined_[static_cast<size_t>(id)])
        return broken(format("output {} is never made", exists(id) ? graph_.value(id).name : format("{}", id)));
      const Value& value = graph_.value(id);
      if (value.type.kind == Kind::kKvState) return broken(format("output {} is a cache state", value.name));
      if (!seen.insert(id).second) return broken(format("output {} stands twice", value.name));
    }
    return base::ok_status();
  }

  const Graph& graph_;
  std::vector<bool> defined_;
  std::map<int64_t, const Node*> writers_;
  std::optional<ops::KvShape> cache_;
};

}  // namespace

Status verify(const Graph& graph) { return Verifier(graph).run(); }

}  // namespace camshaft::graph
