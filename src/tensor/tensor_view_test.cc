#include "tensor/tensor_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace camshaft::tensor {
namespace {

TEST(Shapes, CountElements) {
  EXPECT_EQ(num_elements({}).value(), 1);
  EXPECT_EQ(num_elements({3, 4}).value(), 12);
  EXPECT_EQ(num_elements({3, 0}).value(), 0);
  EXPECT_FALSE(num_elements({3, -1}).ok());
  const Status status = num_elements({int64_t{1} << 40, int64_t{1} << 40}).status();
  EXPECT_NE(status.message().find("[1099511627776, 1099511627776]"), std::string::npos);
}

TEST(Shapes, Text) {
  EXPECT_EQ(shape_text({}), "[]");
  EXPECT_EQ(shape_text({576, 1536}), "[576, 1536]");
}

TEST(Views, RowsAndColumns) {
  const float data[] = {1, 2, 3, 4, 5, 6};
  const TensorView view{Format::kF32, {2, 1, 3}, std::as_bytes(std::span(data))};
  EXPECT_EQ(view.rows(), 2);
  EXPECT_EQ(view.columns(), 3);
  EXPECT_EQ(view.row_bytes(), 12);
  float row[3];
  view.unpack_row(1, row);
  EXPECT_EQ(row[0], 4.0f);
  EXPECT_EQ(row[2], 6.0f);
  const TensorView scalar{Format::kF32, {}, std::as_bytes(std::span(data, 1))};
  EXPECT_EQ(scalar.rows(), 1);
  EXPECT_EQ(scalar.columns(), 1);
}

TEST(Errors, Measures) {
  const float expected[] = {3, 4}, actual[] = {3, 5};
  const ErrorMeasure measure = measure_error(actual, expected);
  EXPECT_EQ(measure.max_abs, 1.0);
  EXPECT_EQ(measure.mean_square, 0.5);
  EXPECT_DOUBLE_EQ(measure.relative_l2, 0.2);
  EXPECT_EQ(measure_error(expected, expected).relative_l2, 0.0);
}

TEST(Errors, NanDoesNotHide) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float expected[] = {1, 2, 3}, actual[] = {1, nan, 3};
  const ErrorMeasure measure = measure_error(actual, expected);
  EXPECT_TRUE(std::isnan(measure.max_abs));
  EXPECT_TRUE(std::isnan(measure.relative_l2));
}

}  // namespace
}  // namespace camshaft::tensor
