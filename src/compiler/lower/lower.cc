// Graph > Plan: kernels by the order of their lists, operands by lifetime, constants in the layout their kernel wants.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "compiler/compiler.h"
#include "compiler/lower/memory_plan.h"
#include "kernels/kernel.h"

namespace camshaft::compiler {
namespace {

using engine::Operand;
using graph::Graph;
using graph::Node;
using graph::ValueId;
using ops::OpKind;
using ops::ValueType;

// Borders between tactics: one row, a few, a batch, a chunk.
constexpr int64_t kBuckets[] = {1, 4, 16, 64};

// Where a value's rows are: a column range of a buffer that some step makes.
struct Place {
  ValueId base = graph::kNoValue;
  int64_t begin = 0;   // column
  int64_t stride = 0;  // columns of the base
};

class Lowering {
 public:
  Lowering(const Graph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  Result<engine::Plan> run(const std::vector<PassReport>& reports) {
    CS_RETURN_IF_ERROR(set_sizes(reports));
    for (const Node& node : graph_.nodes()) {
      if (std::holds_alternative<ops::SliceDesc>(node.desc)) {
        alias_slice(node);
      } else {
        CS_RETURN_IF_ERROR(add_step(node));
      }
    }
    place_buffers();
    CS_RETURN_IF_ERROR(fill_operands());
    return std::move(plan_);
  }

 private:
  Status set_sizes(const std::vector<PassReport>& reports);
  Status set_rope(const Node& node, const ops::RopeParams& rope);
  void alias_slice(const Node& node);
  Status add_step(const Node& node);
  Status note_constants(const Node& node, const kernels::KernelInfo& kernel);
  void place_buffers();
  Status fill_operands();
  Result<Operand> operand(ValueId id) const;
  Place place_of(ValueId id) const {
    const auto at = aliases_.find(id);
    if (at != aliases_.end()) return at->second;
    return {id, 0, columns(id)};
  }
  int64_t columns(ValueId id) const {
    const auto& shape = graph_.value(id).type.shape;
    return shape.size() < 2 ? 1 : shape.back().size;
  }
  int64_t max_rows(ops::Symbol symbol) const {
    return symbol == ops::Symbol::kLogitRows ? options_.max_logit_rows : options_.max_batch_tokens;
  }
  bool is_output(ValueId id) const { return std::ranges::find(graph_.outputs(), id) != graph_.outputs().end(); }

  const Graph& graph_;
  const CompileOptions& options_;
  engine::Plan plan_;
  kernels::Caps caps_;
  std::map<ValueId, Place> aliases_;          // slices
  std::map<ValueId, BufferRequest> buffers_;  // by base value
  std::map<ValueId, int64_t> offsets_;
  std::map<ValueId, int32_t> constants_;
  std::vector<const Node*> step_nodes_;
  std::vector<int64_t> workspaces_;  // bytes, one a step
};

Status Lowering::set_sizes(const std::vector<PassReport>& reports) {
  for (const int64_t rows : kBuckets) {
    if (rows < options_.max_batch_tokens) plan_.buckets.push_back({rows});
  }
  plan_.buckets.push_back({options_.max_batch_tokens});
  plan_.max_batch_tokens = options_.max_batch_tokens;
  plan_.max_logit_rows = options_.max_logit_rows;
  plan_.max_workers = options_.max_workers;
  for (const PassReport& report : reports) {
    plan_.passes.push_back({report.name, report.enabled, report.changes, report.nodes_after});
  }
  plan_.kv.format = options_.kv_format;
  for (const Node& node : graph_.nodes()) {
    if (const auto* attention = std::get_if<ops::AttentionDesc>(&node.desc)) {
      plan_.kv.layers = std::max(plan_.kv.layers, attention->kv.layer + 1);
      plan_.kv.kv_heads = attention->kv.kv_heads;
      plan_.kv.head_dim = attention->kv.head_dim;
    }
    if (const auto* rope = std::get_if<ops::RopeDesc>(&node.desc)) CS_RETURN_IF_ERROR(set_rope(node, rope->rope));
    if (const auto* rope = std::get_if<ops::RopeKvWriteDesc>(&node.desc)) CS_RETURN_IF_ERROR(set_rope(node, rope->rope));
  }
  if (plan_.kv.layers == 0 || graph_.outputs().size() != 1) {
    return base::internal_error(format("lowering: {} attention layers and {} outputs; expected at least one and exactly one",
                                       plan_.kv.layers, graph_.outputs().size()));
  }
  plan_.vocab = columns(graph_.outputs().front());
  caps_ = {device::DeviceKind::kCpu, options_.isa, plan_.kv};
  return base::ok_status();
}

// A plan has one rotary table.
Status Lowering::set_rope(const Node& node, const ops::RopeParams& rope) {
  if (plan_.rope.rotary_dim != 0 && !(plan_.rope == rope)) {
    return base::unimplemented(
        format("'{}': its rotary parameters ({}) differ from those of earlier steps ({}); a plan has one set", node.name,
               ops::desc_text(ops::RopeDesc{1, rope}), ops::desc_text(ops::RopeDesc{1, plan_.rope})));
  }
  plan_.rope = rope;
  return base::ok_status();
}

void Lowering::alias_slice(const Node& node) {
  Place place = place_of(node.inputs.front());
  place.begin += std::get<ops::SliceDesc>(node.desc).begin;
  aliases_[node.outputs.front()] = place;
}

// The kernel decides how its matrix is laid out. An embedding reads any layout of its format, so a gemm's wish comes first.
Status Lowering::note_constants(const Node& node, const kernels::KernelInfo& kernel) {
  const OpKind kind = ops::op_kind(node.desc);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const graph::Value& value = graph_.value(node.inputs[i]);
    if (!value.constant) continue;
    const bool is_matrix = i == 1 && (kind == OpKind::kGemm || kind == OpKind::kEmbedding);
    const kernels::WeightLayout* layout = is_matrix ? kernel.weight_layout(node.desc) : kernels::find_layout("rows_f32");
    CS_CHECK(layout != nullptr, "a matrix without a layout");
    const auto [at, added] = constants_.try_emplace(node.inputs[i], static_cast<int32_t>(plan_.constants.size()));
    engine::ConstantEntry entry{
        value.name, std::string(layout->name), value.type.format, value.constant->rows(), value.constant->columns(), 0, 0};
    entry.bytes = static_cast<uint64_t>(kernels::packed_bytes(*layout, entry.n, entry.k));
    if (added) {
      plan_.constants.push_back(std::move(entry));
    } else if (kind == OpKind::kGemm) {
      plan_.constants[static_cast<size_t>(at->second)] = std::move(entry);
    }
  }
  return base::ok_status();
}

Status Lowering::add_step(const Node& node) {
  const kernels::Choice choice = kernels::choose_kernel(node.desc, caps_);
  if (choice.kernel == nullptr) {
    return base::unimplemented(
        format("'{}': no kernel for {} {}", node.name, ops::op_name(ops::op_kind(node.desc)), ops::desc_text(node.desc)));
  }
  engine::Step step;
  step.name = node.name;
  step.desc = node.desc;
  step.kernel = choice.kernel->name;
  step.note = node.note;
  for (const auto& [name, reason] : choice.refused) step.refused.emplace_back(std::string(name), reason);
  for (const ValueId id : node.outputs) {
    const ValueType& type = graph_.value(id).type;
    if (type.kind == ValueType::Kind::kRows) step.rows = type.shape.front().symbol;
  }
  step.tactics.assign(plan_.buckets.size(), choice.kernel->tactics(node.desc).front().id);
  CS_RETURN_IF_ERROR(note_constants(node, *choice.kernel));

  const auto index = static_cast<int32_t>(plan_.steps.size());
  for (const ValueId id : node.outputs) {
    const ValueType& type = graph_.value(id).type;
    if (type.kind != ValueType::Kind::kRows || is_output(id)) continue;
    buffers_[id] = {max_rows(type.shape.front().symbol) * columns(id) * static_cast<int64_t>(sizeof(float)), index, index};
  }
  for (const ValueId id : node.inputs) {
    const auto at = buffers_.find(place_of(id).base);
    if (at != buffers_.end()) at->second.last_step = index;
  }
  workspaces_.push_back(choice.kernel->workspace_bytes(node.desc, caps_, max_rows(step.rows), options_.max_workers));
  plan_.steps.push_back(std::move(step));
  step_nodes_.push_back(&node);
  return base::ok_status();
}

void Lowering::place_buffers() {
  std::vector<BufferRequest> requests;
  for (const auto& [id, request] : buffers_) requests.push_back(request);
  for (size_t i = 0; i < workspaces_.size(); ++i) {
    requests.push_back({workspaces_[i], static_cast<int32_t>(i), static_cast<int32_t>(i)});
  }
  const MemoryPlan memory = plan_memory(requests);
  size_t next = 0;
  for (const auto& [id, request] : buffers_) offsets_[id] = memory.offsets[next++];
  for (engine::Step& step : plan_.steps) step.workspace_offset = memory.offsets[next++];
  plan_.arena_bytes = std::max<int64_t>(memory.total_bytes, 64);
}

Result<Operand> Lowering::operand(ValueId id) const {
  Operand out;
  const graph::Value& value = graph_.value(id);
  switch (value.type.kind) {
    case ValueType::Kind::kIds: out.place = Operand::Place::kIds; return out;
    case ValueType::Kind::kRowIndex: out.place = Operand::Place::kLogitRows; return out;
    case ValueType::Kind::kKvState: out.place = Operand::Place::kKvState; return out;
    case ValueType::Kind::kWeight:
      out.place = Operand::Place::kConstant;
      out.constant = constants_.at(id);
      return out;
    case ValueType::Kind::kRows: break;
  }
  const Place place = place_of(id);
  if (is_output(place.base)) {
    out.place = Operand::Place::kLogits;
    return out;
  }
  const auto at = offsets_.find(place.base);
  if (at == offsets_.end()) return base::internal_error(format("lowering: value '{}' has no buffer", value.name));
  out.offset = at->second + place.begin * static_cast<int64_t>(sizeof(float));
  out.stride = place.stride;
  return out;
}

Status Lowering::fill_operands() {
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    for (const ValueId id : step_nodes_[i]->inputs) {
      CS_ASSIGN_OR_RETURN(plan_.steps[i].inputs.emplace_back(), operand(id));
    }
    for (const ValueId id : step_nodes_[i]->outputs) {
      CS_ASSIGN_OR_RETURN(plan_.steps[i].outputs.emplace_back(), operand(id));
    }
  }
  return base::ok_status();
}

}  // namespace

Result<engine::Plan> lower(const Graph& graph, const std::vector<PassReport>& reports, const CompileOptions& options) {
  return Lowering(graph, options).run(reports);
}

}  // namespace camshaft::compiler
