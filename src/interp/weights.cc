// See weights.h.
#include "interp/weights.h"

#include <cstring>

#include "base/format.h"

namespace camshaft::interp {
namespace {

using graph::Constant;
using kernels::WeightLayout;

bool is_plain_rows(const WeightLayout& layout) { return layout.row_group == 1 && layout.name.starts_with("rows"); }

AlignedBytes pack(const Constant& constant, const WeightLayout& layout) {
  const int64_t rows = constant.rows(), columns = constant.columns(), group_bytes = layout.group_bytes(columns);
  AlignedBytes out(static_cast<size_t>(kernels::packed_bytes(layout, rows, columns)));
  std::vector<const std::byte*> group(static_cast<size_t>(layout.row_group));
  for (int64_t first = 0; first < rows; first += layout.row_group) {
    for (int64_t i = 0; i < layout.row_group; ++i) {
      group[static_cast<size_t>(i)] = first + i < rows ? constant.row(first + i) : nullptr;
    }
    layout.pack_group(group.data(), columns, out.data() + first / layout.row_group * group_bytes);
  }
  return out;
}

// Vectors lie end to end in memory of their own; matrices become further segments.
Constant join_vectors(const std::string& name, const std::vector<const Constant*>& parts) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  for (const Constant* part : parts) {
    const auto from = part->segments.front().bytes;
    bytes->insert(bytes->end(), from.begin(), from.end());
  }
  int64_t size = 0;
  for (const Constant* part : parts) size += part->columns();
  return {name, {{parts.front()->format(), {size}, *bytes}}, {bytes}};
}

Constant join_matrices(const std::string& name, const std::vector<const Constant*>& parts) {
  Constant out{name, {}, {}};
  for (const Constant* part : parts) {
    out.segments.insert(out.segments.end(), part->segments.begin(), part->segments.end());
    out.storage.insert(out.storage.end(), part->storage.begin(), part->storage.end());
  }
  return out;
}

}  // namespace

Result<const Constant*> WeightStore::find(graph::ValueId id) const {
  const auto folded = folded_.find(id);
  const graph::Value& value = graph_.value(id);
  const Constant* constant = folded != folded_.end() ? &folded->second : value.constant ? &*value.constant : nullptr;
  if (constant == nullptr) return base::invalid_argument(format("{} is a weight, but no constant", value.name));
  for (const tensor::TensorView& segment : constant->segments) {
    if (segment.bytes.empty())
      return base::invalid_argument(format("constant '{}' has no bytes; the graph can be read, but not run", value.name));
  }
  return constant;
}

Result<const void*> WeightStore::matrix(graph::ValueId id, const WeightLayout* layout) {
  CS_ASSIGN_OR_RETURN(const Constant* constant, find(id));
  if (layout == nullptr || layout->format != constant->format()) {
    return base::internal_error(format("constant '{}' is {}, its kernel wants layout {}", constant->name,
                                       tensor::format_info(constant->format()).name, layout == nullptr ? "none" : layout->name));
  }
  const std::byte* bytes = constant->row(0);
  const bool aligned = reinterpret_cast<uintptr_t>(bytes) % alignof(float) == 0;
  if (is_plain_rows(*layout) && constant->segments.size() == 1 && aligned) return static_cast<const void*>(bytes);
  AlignedBytes& packed = packed_[{id, layout}];
  if (packed.size() == 0) packed = pack(*constant, *layout);
  return static_cast<const void*>(packed.data());
}

Result<const void*> WeightStore::vector(graph::ValueId id) {
  CS_ASSIGN_OR_RETURN(const Constant* constant, find(id));
  AlignedBytes& copy = packed_[{id, nullptr}];
  const auto bytes = constant->segments.front().bytes;
  if (copy.size() == 0) {
    copy = AlignedBytes(bytes.size());
    std::memcpy(copy.data(), bytes.data(), bytes.size());
  }
  return static_cast<const void*>(copy.data());
}

Status WeightStore::fold_concat(const graph::Node& node) {
  std::vector<const Constant*> parts;
  for (const graph::ValueId id : node.inputs) {
    CS_ASSIGN_OR_RETURN(parts.emplace_back(), find(id));
  }
  const bool vectors = parts.front()->segments.front().shape.size() == 1;
  folded_.emplace(node.outputs.front(), vectors ? join_vectors(node.name, parts) : join_matrices(node.name, parts));
  return base::ok_status();
}

}  // namespace camshaft::interp
