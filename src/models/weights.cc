// See weights.h.
#include "models/weights.h"

#include "base/format.h"

namespace camshaft::models {
namespace {

// Formats that hold real numbers by themselves: no integer tensors, whose scales would lie elsewhere.
bool is_real(tensor::Format weight) { return weight <= tensor::Format::kQ6_K; }

// An owned f32 copy of a vector.
graph::Constant converted(const std::string& name, const tensor::TensorView& view) {
  const auto size = static_cast<size_t>(view.columns());
  auto bytes = std::make_shared<std::vector<std::byte>>(size * sizeof(float));
  view.unpack_row(0, reinterpret_cast<float*>(bytes->data()));
  return {name, {{tensor::Format::kF32, view.shape, *bytes}}, {bytes}};
}

}  // namespace

Result<const checkpoint::NamedTensor*> Weights::find(const std::string& name, const tensor::Shape& shape) const {
  const checkpoint::NamedTensor* tensor = checkpoint_.find(name);
  if (tensor == nullptr) {
    return base::not_found(format("tensor '{}' {} is missing from the checkpoint", name, tensor::shape_text(shape)));
  }
  if (tensor->view.shape != shape) {
    return base::invalid_argument(format("tensor '{}' is {}, expected {} by the configuration", name,
                                         tensor::shape_text(tensor->view.shape), tensor::shape_text(shape)));
  }
  if (!is_real(tensor->view.format)) {
    return base::unimplemented(format("tensor '{}' is stored as {}; weights may be f32, f16, bf16, f8 or a GGUF block format", name,
                                      tensor::format_info(tensor->view.format).name));
  }
  return tensor;
}

Result<graph::ValueId> Weights::matrix(const std::string& name, int64_t rows, int64_t columns) {
  CS_ASSIGN_OR_RETURN(const checkpoint::NamedTensor* tensor, find(name, {rows, columns}));
  const auto known = used_.find(name);
  if (known != used_.end()) return known->second;
  const graph::ValueId id = graph_.add_constant({name, {tensor->view}, {}});
  used_.emplace(name, id);
  return id;
}

Result<graph::ValueId> Weights::vector(const std::string& name, int64_t size) {
  CS_ASSIGN_OR_RETURN(const checkpoint::NamedTensor* tensor, find(name, {size}));
  const bool as_is = tensor->view.format == tensor::Format::kF32;
  const graph::ValueId id = graph_.add_constant(as_is ? graph::Constant{name, {tensor->view}, {}} : converted(name, tensor->view));
  used_.emplace(name, id);
  return id;
}

Status Weights::all_used() const {
  for (const checkpoint::NamedTensor& tensor : checkpoint_.tensors()) {
    // Tables that the rotary formula gives anyway; old files carry them.
    if (tensor.name.ends_with("rotary_emb.inv_freq")) continue;
    if (used_.contains(tensor.name)) continue;
    return base::unimplemented(
        format("tensor '{}' {} has no place in this model family; the checkpoint is of another kind than its "
               "configuration says",
               tensor.name, tensor::shape_text(tensor.view.shape)));
  }
  return base::ok_status();
}

}  // namespace camshaft::models
