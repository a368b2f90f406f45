// A small registry of counters, gauges and histograms with Prometheus text exposition. Observing takes no lock:
// relaxed atomics, one cache line a child. Families and label sets are fixed when registered (at start).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace camshaft::base {

using MetricLabels = std::vector<std::pair<std::string, std::string>>;

class Counter {
 public:
  void add(double amount = 1.0) { value_.fetch_add(amount, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<double> value_{0};
};

class Gauge {
 public:
  void set(double value) { value_.store(value, std::memory_order_relaxed); }
  void add(double amount) { value_.fetch_add(amount, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<double> value_{0};
};

class Histogram {
 public:
  explicit Histogram(std::vector<double> upper_bounds);
  void observe(double value);
  const std::vector<double>& upper_bounds() const { return bounds_; }
  uint64_t bucket_count(size_t index) const { return buckets_[index].load(std::memory_order_relaxed); }
  uint64_t count() const;
  double sum() const { return sum_.load(std::memory_order_relaxed); }

 private:
  std::vector<double> bounds_;                        // ascending, without +Inf
  std::unique_ptr<std::atomic<uint64_t>[]> buckets_;  // [bounds + 1], not cumulative
  std::atomic<double> sum_{0};
};

// Registering is for start-up (takes a lock); the returned objects live as long as the registry. Names carry no prefix:
// the registry writes "camshaft_" in front, and under aliases, if given, the same values once more under another name.
class MetricsRegistry {
 public:
  MetricsRegistry();
  ~MetricsRegistry();
  Counter& counter(std::string_view name, std::string_view help, MetricLabels labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, MetricLabels labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, std::vector<double> upper_bounds, MetricLabels labels = {});
  // After this, the family is written a second time as `alias` (for instance "vllm:num_requests_running").
  void alias(std::string_view name, std::string_view alias);
  // Text format 0.0.4: HELP and TYPE once a family, families contiguous.
  std::string expose() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::base
