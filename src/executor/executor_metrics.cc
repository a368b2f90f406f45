// Names, help texts and bounds of the executor's metrics, with the names that vLLM's dashboards use as aliases.
#include "executor/executor_metrics.h"

#include <utility>
#include <vector>

namespace camshaft::executor {
namespace {

using base::MetricLabels;

std::vector<double> latency_bounds() {
  return {0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1,   1.5, 2,    2.5, 5,
          10,    15,   20,   30,   40,  50,  60,  120, 240, 480, 960, 1920, 7680};
}

std::vector<double> first_token_bounds() {
  return {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560};
}

std::vector<double> inter_token_bounds() {
  return {0.001, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
          0.3,   0.4,   0.5,   0.75,  1,     2.5,    5,    7.5,   10,   20,    40,  80};
}

std::vector<double> iteration_bounds() { return {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384}; }

// 1 2 5 10 20 50 ... up to `limit`.
std::vector<double> one_two_five(int32_t limit) {
  std::vector<double> bounds;
  for (double decade = 1;; decade *= 10) {
    for (const double step : {1.0, 2.0, 5.0}) {
      if (!bounds.empty() && decade * step > limit) return bounds;
      bounds.push_back(decade * step);
    }
  }
}

MetricLabels base_labels(const std::string& model_name) { return {{"model_name", model_name}, {"engine", "0"}}; }

MetricLabels with(MetricLabels labels, std::initializer_list<std::pair<std::string, std::string>> more) {
  labels.insert(labels.end(), more);
  return labels;
}

base::Gauge& blocks_gauge(base::MetricsRegistry& registry, const MetricLabels& labels, const char* state) {
  return registry.gauge("kv_cache_blocks", "Cache blocks by state.", with(labels, {{"state", state}, {"tier", "device"}}));
}

void register_aliases(base::MetricsRegistry& registry) {
  constexpr std::pair<const char*, const char*> kAliases[] = {
      {"num_requests_running", "vllm:num_requests_running"},
      {"num_requests_waiting", "vllm:num_requests_waiting"},
      {"kv_cache_usage_ratio", "vllm:kv_cache_usage_perc"},
      {"prompt_tokens_total", "vllm:prompt_tokens_total"},
      {"generation_tokens_total", "vllm:generation_tokens_total"},
      {"requests_total", "vllm:request_success_total"},
      {"num_preemptions_total", "vllm:num_preemptions_total"},
      {"time_to_first_token_seconds", "vllm:time_to_first_token_seconds"},
      {"inter_token_latency_seconds", "vllm:inter_token_latency_seconds"},
      {"e2e_request_latency_seconds", "vllm:e2e_request_latency_seconds"},
      {"request_queue_time_seconds", "vllm:request_queue_time_seconds"},
      {"request_prompt_tokens", "vllm:request_prompt_tokens"},
      {"request_generation_tokens", "vllm:request_generation_tokens"},
      {"iteration_tokens", "vllm:iteration_tokens_total"},
  };
  for (const auto& [name, alias] : kAliases) registry.alias(name, alias);
}

// A family is aliased once, also where several models share the registry.
bool is_first_model(base::MetricsRegistry& registry) {
  return registry.expose().find("camshaft_num_requests_running") == std::string::npos;
}

}  // namespace

ExecutorMetrics::ExecutorMetrics(base::MetricsRegistry& registry, const std::string& model_name, int32_t max_seq_len)
    : ExecutorMetrics(registry, base_labels(model_name), max_seq_len, is_first_model(registry)) {}

ExecutorMetrics::ExecutorMetrics(base::MetricsRegistry& r, const MetricLabels& labels, int32_t max_seq_len, bool first)
    : prompt_tokens(r.counter("prompt_tokens_total", "Prompt tokens of requests that reached their first token.", labels)),
      generation_tokens(r.counter("generation_tokens_total", "Tokens sampled.", labels)),
      preemptions(r.counter("num_preemptions_total", "Sequences put back for lack of cache blocks.",
                            with(labels, {{"mode", "recompute"}}))),
      time_to_first_token(
          r.histogram("time_to_first_token_seconds", "From a request's arrival to its first token.", first_token_bounds(), labels)),
      inter_token_latency(
          r.histogram("inter_token_latency_seconds", "Between two tokens of a request.", inter_token_bounds(), labels)),
      queue_time(
          r.histogram("request_queue_time_seconds", "From a request's arrival to its first step.", latency_bounds(), labels)),
      running_(r.gauge("num_requests_running", "Requests in the batch.", labels)),
      waiting_(r.gauge("num_requests_waiting", "Requests that wait for their first step or for cache blocks.", labels)),
      kv_usage_(r.gauge("kv_cache_usage_ratio", "Used cache blocks by all.", with(labels, {{"tier", "device"}}))),
      blocks_total_(blocks_gauge(r, labels, "total")),
      blocks_used_(blocks_gauge(r, labels, "used")),
      blocks_free_(blocks_gauge(r, labels, "free")),
      e2e_latency_(r.histogram("e2e_request_latency_seconds", "From a request's arrival to its end.", latency_bounds(), labels)),
      request_prompt_tokens_(
          r.histogram("request_prompt_tokens", "Prompt tokens of an ended request.", one_two_five(max_seq_len), labels)),
      request_generation_tokens_(
          r.histogram("request_generation_tokens", "Sampled tokens of an ended request.", one_two_five(max_seq_len), labels)) {
  using Reason = api::FinishReason;
  blocks_gauge(r, labels, "cached");  // stays zero until there is a prefix cache
  r.counter("num_preemptions_total", "", with(labels, {{"mode", "swap"}}));
  for (const Reason reason : {Reason::kStop, Reason::kLength, Reason::kAbort, Reason::kError}) {
    const std::string name(api::finish_reason_name(reason));
    ends_[static_cast<size_t>(reason)] = &r.counter("requests_total", "Ended requests.", with(labels, {{"finished_reason", name}}));
  }
  constexpr const char* kReasons[] = {"queue_full", "queue_tokens", "draining", "too_long"};  // in the order of Rejection
  for (size_t i = 0; i < rejections_.size(); ++i)
    rejections_[i] =
        &r.counter("admission_rejections_total", "Requests refused before they waited.", with(labels, {{"reason", kReasons[i]}}));
  constexpr const char* kPhases[] = {"prefill", "decode", "mixed"};  // in the order of Phase
  for (size_t i = 0; i < phases_.size(); ++i) phases_[i] = make_phase(r, with(labels, {{"phase", kPhases[i]}}));
  if (first) register_aliases(r);
}

ExecutorMetrics::PhaseMetrics ExecutorMetrics::make_phase(base::MetricsRegistry& r, const MetricLabels& labels) {
  return {&r.histogram("iteration_tokens", "Rows of a step.", iteration_bounds(), labels),
          &r.histogram("iteration_seconds", "Duration of a step.", inter_token_bounds(), labels),
          &r.histogram("iteration_batch_size", "Sequences of a step.", iteration_bounds(), labels)};
}

void ExecutorMetrics::count_end(api::FinishReason reason, int32_t prompt, int32_t generated, double seconds) {
  ends_[static_cast<size_t>(reason)]->add();
  e2e_latency_.observe(seconds);
  request_prompt_tokens_.observe(prompt);
  request_generation_tokens_.observe(generated);
}

void ExecutorMetrics::observe_step(const StepShape& shape, double seconds) {
  const Phase phase = shape.decode_rows == 0 ? kPrefill : shape.prefill_rows == 0 ? kDecode : kMixed;
  phases_[phase].tokens->observe(shape.prefill_rows + shape.decode_rows);
  phases_[phase].seconds->observe(seconds);
  phases_[phase].batch_size->observe(shape.sequences);
}

void ExecutorMetrics::set_load(const ExecutorStats& stats) {
  running_.set(static_cast<double>(stats.running));
  waiting_.set(static_cast<double>(stats.waiting));
  kv_usage_.set(static_cast<double>(stats.blocks_used) / static_cast<double>(stats.blocks_total));
  blocks_total_.set(static_cast<double>(stats.blocks_total));
  blocks_used_.set(static_cast<double>(stats.blocks_used));
  blocks_free_.set(static_cast<double>(stats.blocks_total - stats.blocks_used));
}

}  // namespace camshaft::executor
