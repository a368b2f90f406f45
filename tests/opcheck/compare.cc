// Bounds by op and reduction length, relative to the largest value of the row.
#include "compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "tensor/dtype.h"

namespace camshaft::opcheck {
namespace {

constexpr double kUnit = 0x1p-24;  // half a unit in the last place of f32 around one

// |actual - expected| <= bound * (largest |expected| of the row + floor).
struct Bound {
  double relative = 0;
  double floor = 0;
};

struct BoundOf {
  Bound operator()(const ops::EmbeddingDesc&) const { return {0, 0}; }
  Bound operator()(const ops::RmsNormDesc& d) const { return {kUnit * (6 + std::sqrt(static_cast<double>(d.hidden)) / 4), 0}; }
  Bound operator()(const ops::AddRmsNormDesc& d) const { return {kUnit * (6 + std::sqrt(static_cast<double>(d.hidden)) / 4), 0}; }
  // Sums of k products in f32 in any order; the floor stands for rows whose products cancel.
  Bound operator()(const ops::GemmDesc& d) const { return {kUnit * (16 + 2 * std::sqrt(static_cast<double>(d.k))), 0.5}; }
  Bound operator()(const ops::AddDesc&) const { return {0, 0}; }
  Bound operator()(const ops::MulDesc&) const { return {0, 0}; }
  Bound operator()(const ops::SiluDesc&) const { return {8 * kUnit, 0}; }
  Bound operator()(const ops::SwigluDesc&) const { return {8 * kUnit, 0}; }
  Bound operator()(const ops::SliceDesc&) const { return {0, 0}; }
  Bound operator()(const ops::RopeDesc&) const { return {4 * kUnit, 0}; }
  Bound operator()(const ops::KvWriteDesc&) const { return {0, 0}; }
  Bound operator()(const ops::RopeKvWriteDesc&) const { return {4 * kUnit, 0}; }
  // Scores are sums of head_dim products, their errors pass through exp; values are around one.
  Bound operator()(const ops::AttentionDesc& d) const { return {kUnit * (40 + 4 * static_cast<double>(d.kv.head_dim)), 0.5}; }
  Bound operator()(const ops::GatherRowsDesc&) const { return {0, 0}; }
  Bound operator()(const ops::ConcatRowsDesc&) const { return {0, 0}; }
};

float value_at(const Rows& rows, int64_t row, int64_t column) {
  return std::bit_cast<float>(rows.bits[static_cast<size_t>(row * rows.stride + column)]);
}

std::string compare_row(const Rows& actual, const Rows& expected, int64_t row, const Bound& bound) {
  double largest = 0;
  for (int64_t i = 0; i < expected.columns; ++i) largest = std::max(largest, std::fabs(double{value_at(expected, row, i)}));
  const double allowed = bound.relative * (largest + bound.floor);
  for (int64_t i = 0; i < expected.columns; ++i) {
    const double a = value_at(actual, row, i), e = value_at(expected, row, i);
    if (std::fabs(a - e) <= allowed) continue;  // false for NaN
    return format("row {} column {}: {:.9g}, expected {:.9g}: {:.3g} apart, {:.3g} allowed", row, i, a, e, std::fabs(a - e),
                  allowed);
  }
  return {};
}

std::string check_padding(const Rows& actual, const Rows& expected) {
  for (size_t i = 0; i < actual.bits.size(); ++i) {
    const auto column = static_cast<int64_t>(i) % actual.stride;
    if (column >= actual.columns && actual.bits[i] != expected.bits[i]) {
      return format("row {}: element {} behind the row was written", static_cast<int64_t>(i) / actual.stride, column);
    }
  }
  return {};
}

double cache_value(const ops::KvLayout& kv, const std::vector<std::byte>& cache, size_t index) {
  if (kv.format == tensor::Format::kF32) {
    float x;
    memcpy(&x, cache.data() + index * sizeof(x), sizeof(x));
    return x;
  }
  uint16_t half;
  memcpy(&half, cache.data() + index * sizeof(half), sizeof(half));
  return tensor::f16_to_f32(half);
}

// A turned key may round the other way: one unit of the cache's type.
std::string compare_cache(const Problem& problem, const Outputs& actual, const Outputs& expected) {
  const ops::KvLayout& kv = problem.kv;
  const double unit = kv.format == tensor::Format::kF32 ? 8 * kUnit : 0x1p-10;
  const size_t elements = actual.cache.size() / static_cast<size_t>(std::max<int64_t>(kv.element_bytes(), 1));
  for (size_t i = 0; i < elements; ++i) {
    const double a = cache_value(kv, actual.cache, i), e = cache_value(kv, expected.cache, i);
    if (std::isnan(a) && std::isnan(e)) continue;
    if (std::fabs(a - e) <= unit * std::fabs(e) + 8 * kUnit) continue;
    return format("cache element {}: {:.9g}, expected {:.9g}", static_cast<int64_t>(i), a, e);
  }
  return {};
}

}  // namespace

std::string compare_close(const Problem& problem, const Outputs& actual, const Outputs& expected) {
  const Bound bound = std::visit(BoundOf{}, problem.spec.desc);
  for (size_t out = 0; out < expected.rows.size(); ++out) {
    std::string difference = check_padding(actual.rows[out], expected.rows[out]);
    for (int64_t row = 0; row < problem.spec.rows && difference.empty(); ++row) {
      difference = compare_row(actual.rows[out], expected.rows[out], row, bound);
    }
    if (!difference.empty()) return format("output {} ", static_cast<int64_t>(out)) + difference;
  }
  return compare_cache(problem, actual, expected);
}

std::string compare_bits(const Outputs& actual, const Outputs& expected) {
  for (size_t out = 0; out < expected.rows.size(); ++out) {
    const Rows &a = actual.rows[out], &e = expected.rows[out];
    for (size_t i = 0; i < e.bits.size(); ++i) {
      if (a.bits[i] == e.bits[i]) continue;
      return format("output {} row {} column {}: bits {:08x}, expected {:08x}", static_cast<int64_t>(out),
                    static_cast<int64_t>(i) / e.stride, static_cast<int64_t>(i) % e.stride, a.bits[i], e.bits[i]);
    }
  }
  return actual.cache == expected.cache ? "" : "the caches differ";
}

}  // namespace camshaft::opcheck
