// TensorView: a shape and bytes that somebody else owns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "tensor/quant_format.h"

namespace camshaft::tensor {

// Row-major, outermost first: a weight is [out_features, in_features].
using Shape = std::vector<int64_t>;

// Product of the dimensions, or an error where 64 bits do not hold it. An empty shape is a scalar: 1.
Result<int64_t> num_elements(const Shape& shape);
std::string shape_text(const Shape& shape);  // "[576, 1536]"

struct TensorView {
  Format format = Format::kF32;
  Shape shape;
  std::span<const std::byte> bytes;  // dense, row-major; the owner (a Checkpoint, an arena) outlives the view

  int64_t rows() const;     // product of all dimensions but the last
  int64_t columns() const;  // the last dimension (1 for a scalar)
  int64_t row_bytes() const { return format_bytes(format, columns()); }
  // Row `row` as f32 into out[columns()].
  void unpack_row(int64_t row, float* out) const;
};

// Error measures between what is and what should be, as reports and tests use them.
struct ErrorMeasure {
  double max_abs = 0;
  double mean_square = 0;
  double relative_l2 = 0;  // |a - b|_2 / |b|_2
};
ErrorMeasure measure_error(std::span<const float> actual, std::span<const float> expected);

}  // namespace camshaft::tensor
