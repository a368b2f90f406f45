// The executor's metric families, registered once at start. Observing is relaxed atomics only.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "api/request.h"
#include "base/metrics.h"
#include "executor/executor.h"

namespace camshaft::executor {

// What one step was made of.
struct StepShape {
  int32_t prefill_rows = 0;
  int32_t decode_rows = 0;
  int32_t sequences = 0;
};

class ExecutorMetrics {
 public:
  // `max_seq_len` bounds the histograms of token counts.
  ExecutorMetrics(base::MetricsRegistry& registry, const std::string& model_name, int32_t max_seq_len);

  enum class Rejection : uint8_t { kQueueFull, kQueueTokens, kDraining, kTooLong };
  void count_rejection(Rejection reason) { rejections_[static_cast<size_t>(reason)]->add(); }
  void count_end(api::FinishReason reason, int32_t prompt_tokens, int32_t generated_tokens, double seconds);
  void observe_step(const StepShape& shape, double seconds);
  void set_load(const ExecutorStats& stats);

  base::Counter& prompt_tokens;
  base::Counter& generation_tokens;
  base::Counter& preemptions;
  base::Histogram& time_to_first_token;
  base::Histogram& inter_token_latency;
  base::Histogram& queue_time;

 private:
  struct PhaseMetrics {
    base::Histogram* tokens;
    base::Histogram* seconds;
    base::Histogram* batch_size;
  };
  enum Phase : uint8_t { kPrefill, kDecode, kMixed };
  ExecutorMetrics(base::MetricsRegistry& registry, const base::MetricLabels& labels, int32_t max_seq_len, bool first);
  static PhaseMetrics make_phase(base::MetricsRegistry& registry, const base::MetricLabels& labels);

  base::Gauge& running_;
  base::Gauge& waiting_;
  base::Gauge& kv_usage_;
  base::Gauge& blocks_total_;
  base::Gauge& blocks_used_;
  base::Gauge& blocks_free_;
  base::Histogram& e2e_latency_;
  base::Histogram& request_prompt_tokens_;
  base::Histogram& request_generation_tokens_;
  std::array<base::Counter*, 5> ends_{};  // by FinishReason; kNone has none
  std::array<base::Counter*, 4> rejections_{};
  std::array<PhaseMetrics, 3> phases_{};
};

}  // namespace camshaft::executor
