// The tensors of a checkpoint with an index by name. Inside the room only.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "checkpoint/checkpoint.h"

namespace camshaft::checkpoint {

class TensorTable {
 public:
  explicit TensorTable(std::vector<NamedTensor> tensors) : tensors_(std::move(tensors)) {
    index_.reserve(tensors_.size());
    for (const NamedTensor& tensor : tensors_) index_.emplace(tensor.name, &tensor);
  }
  // The index points into tensors_.
  TensorTable(const TensorTable&) = delete;
  TensorTable& operator=(const TensorTable&) = delete;

  const std::vector<NamedTensor>& all() const { return tensors_; }
  const NamedTensor* find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : found->second;
  }

 private:
  std::vector<NamedTensor> tensors_;
  std::unordered_map<std::string_view, const NamedTensor*> index_;
};

}  // namespace camshaft::checkpoint
