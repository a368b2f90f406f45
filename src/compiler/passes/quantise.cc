// Weight formats and activation types for the precision asked for. A constant changes its name where the bytes are the same (Q4_1
// is int4 with minimum, Q8_0 is int8), is re-packed exactly where the target can hold it, and is rounded to nearest otherwise. The
// pass decides; bytes are converted when they are packed, so that a build never holds a second copy of the model.
#include <algorithm>

#include "base/format.h"
#include "compiler/passes/match.h"
#include "compiler/passes/passes.h"
#include "tensor/quant/convert.h"

namespace camshaft::compiler {
namespace {

using graph::Constant;
using graph::Graph;
using graph::ValueId;
using ops::ActivationType;
using tensor::Format;

constexpr int64_t kBlock = 32;

// Formats that keep a file's own precision. Those without an exact packed form become int8, to nearest.
Format kept_format(Format format) {
  switch (format) {
    case Format::kQ4_0:
    case Format::kQ4_1:
    case Format::kI4B32M: return Format::kI4B32M;
    case Format::kF32:
    case Format::kF8E4M3:
    case Format::kF8E5M2: return Format::kF32;
    case Format::kF16: return Format::kF16;
    case Format::kBF16: return Format::kBF16;
    default: return Format::kI8B32;
  }
}

// The embedding table (and the head tied to it) stays at 8 bits under int4: it decides every logit.
Format target_format(Format format, Precision precision, bool is_table) {
  switch (precision) {
    case Precision::kKeep: return kept_format(format);
    case Precision::kF32: return Format::kF32;
    case Precision::kBf16: return Format::kBF16;
    case Precision::kInt8: return Format::kI8B32;
    case Precision::kInt4: return is_table ? Format::kI8B32 : Format::kI4B32M;
  }
  return format;
}

// keep takes 16-bit activations: with 8 bits their rounding alone moves logits by 0.1 to 0.6 (docs/decisions/0003).
ActivationType target_activation(Format weight, Precision precision) {
  switch (weight) {
    case Format::kBF16: return ActivationType::kBF16;
    case Format::kI8B32:
    case Format::kI4B32M: return precision == Precision::kKeep ? ActivationType::kI16B32 : ActivationType::kI8B32;
    default: return ActivationType::kF32;
  }
}

bool is_matrix_user(const graph::Node& node) {
  return std::holds_alternative<ops::GemmDesc>(node.desc) || std::holds_alternative<ops::EmbeddingDesc>(node.desc);
}

Constant converted(const Constant& constant, Format to) {
  Constant out;
  out.name = constant.name;
  std::vector<float> scratch(static_cast<size_t>(constant.columns()));
  for (const tensor::TensorView& segment : constant.segments) {
    const int64_t row_bytes = tensor::format_bytes(to, segment.columns());
    auto bytes = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(segment.rows() * row_bytes));
    for (int64_t row = 0; row < segment.rows(); ++row) {
      tensor::convert_row(segment.format, segment.bytes.data() + row * segment.row_bytes(), to, bytes->data() + row * row_bytes,
                          segment.columns(), scratch.data());
    }
    out.segments.push_back({to, segment.shape, *bytes});
    out.storage.push_back(std::move(bytes));
  }
  return out;
}

// The weight's value in its new format, over the same bytes; the old one when nothing changes.
ValueId with_format(Graph& graph, ValueId id, Format to) {
  Constant constant = *graph.value(id).constant;
  if (constant.format() == to) return id;
  if (tensor::same_bytes(constant.format(), to)) {
    for (tensor::TensorView& segment : constant.segments) segment.format = to;
  }
  const ValueId out = graph.add_constant(std::move(constant));
  graph.value(out).type.format = to;
  return out;
}

void apply(graph::Node& node, Format weight, Precision precision) {
  if (auto* gemm = std::get_if<ops::GemmDesc>(&node.desc)) {
    gemm->weight = weight;
    gemm->activation = target_activation(weight, precision);
  } else {
    std::get<ops::EmbeddingDesc>(node.desc).weight = weight;
  }
}

}  // namespace

Result<int64_t> quantise(Graph& graph, const CompileOptions& options) {
  int64_t changes = 0;
  std::vector<ValueId> weights;
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  for (const graph::Node& node : graph.nodes()) {
    if (!is_matrix_user(node) || seen[static_cast<size_t>(node.inputs[1])]) continue;
    seen[static_cast<size_t>(node.inputs[1])] = true;
    weights.push_back(node.inputs[1]);
  }
  for (const ValueId id : weights) {
    if (!graph.value(id).constant) {
      return base::internal_error(format("weight '{}' is no constant; fold_constants must run first", graph.value(id).name));
    }
    const Constant& constant = *graph.value(id).constant;
    bool is_table = false;
    for (const int32_t user : graph.users(id)) {
      is_table =
          is_table || std::holds_alternative<ops::EmbeddingDesc>(graph.nodes()[static_cast<size_t>(user)].desc) ||
          std::ranges::find(graph.outputs(), graph.nodes()[static_cast<size_t>(user)].outputs.front()) != graph.outputs().end();
    }
    const Format from = constant.format();
    Format to = target_format(from, options.precision, is_table);
    const bool blocked = to == Format::kI8B32 || to == Format::kI4B32M;
    std::string note = tensor::converts_exactly(from, to) ? "" : ", to nearest";
    if (blocked && constant.columns() % kBlock != 0) {
      to = Format::kF32;
      note = format(", its {} columns are no multiple of {}", constant.columns(), kBlock);
    }
    const ValueId changed_id = with_format(graph, id, to);
    for (const int32_t user : graph.users(id)) {
      graph::Node& node = graph.nodes()[static_cast<size_t>(user)];
      const ops::OpDesc before = node.desc;
      apply(node, to, options.precision);
      if (from != to) {
        node.note += format("{}weight {} to {}{}", node.note.empty() ? "" : "; ", tensor::format_info(from).name,
                            tensor::format_info(to).name, note);
      }
      if (node.desc != before) ++changes;
    }
    if (changed_id != id) graph.replace_uses(id, changed_id);
  }
  CS_RETURN_IF_ERROR(graph.tidy({}));
  return changes;
}

void convert_constants(Graph& graph) {
  for (ValueId id = 0; id < graph.num_values(); ++id) {
    graph::Value& value = graph.value(id);
    if (!value.constant || value.constant->format() == value.type.format) continue;
    value.constant = converted(*value.constant, value.type.format);
  }
}

}  // namespace camshaft::compiler
