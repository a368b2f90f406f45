#include "base/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

namespace camshaft::base {
namespace {

using ::testing::HasSubstr;

TEST(MetricsTest, ExposesFamiliesOnceAndInOrder) {
  MetricsRegistry registry;
  registry.counter("requests_total", "Requests.", {{"route", "/a"}}).add();
  registry.gauge("depth", "Queue depth.").set(2.5);
  registry.counter("requests_total", "Requests.", {{"route", "/b"}}).add(3);
  EXPECT_EQ(registry.expose(),
            "# HELP camshaft_requests_total Requests.\n"
            "# TYPE camshaft_requests_total counter\n"
            "camshaft_requests_total{route=\"/a\"} 1\n"
            "camshaft_requests_total{route=\"/b\"} 3\n"
            "# HELP camshaft_depth Queue depth.\n"
            "# TYPE camshaft_depth gauge\n"
            "camshaft_depth 2.5\n");
}

TEST(MetricsTest, HistogramBucketsAreCumulativeAndInclusive) {
  MetricsRegistry registry;
  Histogram& histogram = registry.histogram("wait_seconds", "Wait.", {0.1, 1, 10}, {{"m", "x"}});
  for (double value : {0.05, 0.1, 0.5, 100.0}) histogram.observe(value);
  histogram.observe(std::nan(""));
  EXPECT_EQ(histogram.count(), 4u);
  EXPECT_THAT(registry.expose(), HasSubstr("# TYPE camshaft_wait_seconds histogram\n"
                                           "camshaft_wait_seconds_bucket{m=\"x\",le=\"0.1\"} 2\n"
                                           "camshaft_wait_seconds_bucket{m=\"x\",le=\"1\"} 3\n"
                                           "camshaft_wait_seconds_bucket{m=\"x\",le=\"10\"} 3\n"
                                           "camshaft_wait_seconds_bucket{m=\"x\",le=\"+Inf\"} 4\n"
                                           "camshaft_wait_seconds_sum{m=\"x\"} 100.65\n"
                                           "camshaft_wait_seconds_count{m=\"x\"} 4\n"));
}

TEST(MetricsTest, AliasesRepeatTheFamilyUnderTheirOwnName) {
  MetricsRegistry registry;
  registry.gauge("num_requests_running", "Running.", {{"engine", "0"}}).set(7);
  registry.alias("num_requests_running", "vllm:num_requests_running");
  EXPECT_THAT(registry.expose(), HasSubstr("# HELP vllm:num_requests_running Running.\n"
                                           "# TYPE vllm:num_requests_running gauge\n"
                                           "vllm:num_requests_running{engine=\"0\"} 7\n"));
}

TEST(MetricsTest, EscapesLabelsAndHelp) {
  MetricsRegistry registry;
  registry.gauge("g", "a\\b\n\"c\"", {{"l", "a\\b\n\"c\""}});
  EXPECT_THAT(registry.expose(), HasSubstr("# HELP camshaft_g a\\\\b\\n\"c\"\n"));
  EXPECT_THAT(registry.expose(), HasSubstr("camshaft_g{l=\"a\\\\b\\n\\\"c\\\"\"} 0\n"));
}

TEST(MetricsTest, NumbersReadBack) {
  MetricsRegistry registry;
  Gauge& gauge = registry.gauge("g", "G.");
  const std::pair<double, std::string> cases[] = {{1e15, " 1000000000000000\n"},
                                                  {0.1, " 0.1\n"},
                                                  {-3, " -3\n"},
                                                  {1e300, " 1e+300\n"},
                                                  {std::nan(""), " NaN\n"},
                                                  {std::numeric_limits<double>::infinity(), " +Inf\n"},
                                                  {-std::numeric_limits<double>::infinity(), " -Inf\n"}};
  for (const auto& [value, text] : cases) {
    gauge.set(value);
    EXPECT_THAT(registry.expose(), HasSubstr("camshaft_g" + text));
  }
}

TEST(MetricsTest, TheSameNameAndLabelsAreTheSameObject) {
  MetricsRegistry registry;
  Counter& first = registry.counter("c_total", "C.", {{"a", "1"}});
  for (int i = 0; i < 100; ++i) registry.counter("c_total", "C.", {{"a", std::to_string(i)}});
  EXPECT_EQ(&first, &registry.counter("c_total", "C.", {{"a", "1"}}));
  EXPECT_DEATH(registry.gauge("c_total", "C."), "c_total");
}

TEST(MetricsTest, NothingIsLostBetweenThreads) {
  MetricsRegistry registry;
  Counter& counter = registry.counter("c_total", "C.");
  Histogram& histogram = registry.histogram("h", "H.", {1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        counter.add();
        histogram.observe(i % 2 * 2.0);
      }
    });
  }
  for (int i = 0; i < 10; ++i) (void)registry.expose();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.value(), 40'000);
  EXPECT_EQ(histogram.count(), 40'000u);
  EXPECT_EQ(histogram.sum(), 40'000);
}

}  // namespace
}  // namespace camshaft::base
