// Shapes, rows of views, error measures.
#include "tensor/tensor_view.h"

#include <cmath>
#include <limits>

#include "base/format.h"

namespace camshaft::tensor {

Result<int64_t> num_elements(const Shape& shape) {
  int64_t product = 1;
  for (int64_t extent : shape) {
    if (extent < 0) return base::invalid_argument(base::format("shape {} has the negative extent {}", shape_text(shape), extent));
    if (__builtin_mul_overflow(product, extent, &product))
      return base::invalid_argument(base::format("shape {} has more elements than 64 bits can count", shape_text(shape)));
  }
  return product;
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + "]";
}

int64_t TensorView::rows() const {
  int64_t product = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) product *= shape[i];
  return product;
}

int64_t TensorView::columns() const { return shape.empty() ? 1 : shape.back(); }

void TensorView::unpack_row(int64_t row, float* out) const {
  CS_CHECK(row >= 0 && row < rows(), base::format("row {} of a tensor {}", row, shape_text(shape)));
  format_info(format).unpack(bytes.data() + row * row_bytes(), out, columns());
}

ErrorMeasure measure_error(std::span<const float> actual, std::span<const float> expected) {
  CS_CHECK(actual.size() == expected.size(), base::format("{} values against {}", actual.size(), expected.size()));
  ErrorMeasure measure;
  double squares = 0, norm = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(actual[i]) - expected[i]);
    // A NaN anywhere must not hide behind a maximum.
    if (!(difference <= measure.max_abs)) measure.max_abs = std::isnan(measure.max_abs) ? measure.max_abs : difference;
    squares += difference * difference;
    norm += static_cast<double>(expected[i]) * expected[i];
  }
  if (!actual.empty()) measure.mean_square = squares / static_cast<double>(actual.size());
  if (squares != 0) measure.relative_l2 = norm > 0 ? std::sqrt(squares / norm) : std::numeric_limits<double>::infinity();
  return measure;
}

}  // namespace camshaft::tensor
