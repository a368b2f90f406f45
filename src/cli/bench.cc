// camshaft bench ENGINE: random tokens through the executor in a closed loop, without text or HTTP; percentiles.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/open_model.h"
#include "cli/version.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  int64_t input_len = 0;
  int64_t output_len = 0;
  int64_t concurrency = 0;
  int64_t requests = 0;
  int64_t warmup = 0;
  int64_t seed = 0;
  bool json = false;
  ModelOptions model_options;
};

CommandSpec spec(State& s) {
  CommandSpec out{"bench",
                  "Measures an engine: random tokens in, end tokens ignored, requests in a closed loop.",
                  {},
                  {},
                  &s.model_options.given};
  out.positionals.push_back({"ENGINE", "An engine file, or a checkpoint (built once into the cache).", true, &s.model});
  out.options = {
      {"input-len", base::IntRange{1, 1 << 24}, "128", "Prompt tokens of a request.", &s.input_len},
      {"output-len", base::IntRange{1, 1 << 24}, "128", "Output tokens of a request.", &s.output_len},
      {"concurrency", base::IntRange{1, 4096}, "1", "Requests in flight.", &s.concurrency},
      {"requests", base::IntRange{0, 1 << 24}, "0", "Requests in all; 0 is 4 times the concurrency.", &s.requests},
      {"warmup", base::IntRange{0, 1 << 20}, "1", "Requests before measuring starts.", &s.warmup},
      {"seed", base::IntRange{0, INT64_MAX}, "1", "Of the random tokens.", &s.seed},
      {"json", base::Flag{}, "", "Prints one JSON object.", &s.json},
  };
  for (base::Option& option : model_option_table(s.model_options, "32")) out.options.push_back(std::move(option));
  return out;
}

using SteadyClock = std::chrono::steady_clock;
double ms_between(SteadyClock::time_point a, SteadyClock::time_point b) {
  return std::chrono::duration<double, std::milli>(b - a).count();
}

struct InFlight {
  SteadyClock::time_point start, last;
  int64_t tokens = 0;
};

struct Samples {
  std::vector<double> ttft_ms, itl_ms, e2e_ms;
  int64_t output_tokens = 0;
  int64_t errors = 0;
  double seconds = 0;
};

class ClosedLoop {
 public:
  ClosedLoop(const State& s, executor::Executor& executor) : s_(s), executor_(executor), random_(static_cast<uint64_t>(s.seed)) {}

  Result<Samples> run(int64_t requests, int64_t concurrency) {
    samples_ = {};
    const auto start = SteadyClock::now();
    int64_t started = 0;
    for (; started < std::min(requests, concurrency); ++started) CS_RETURN_IF_ERROR(submit());
    while (!flying_.empty()) {
      for (const api::TokenEvent& event : events_.wait()) {
        if (!on_event(event)) continue;
        if (started < requests) {
          CS_RETURN_IF_ERROR(submit());
          ++started;
        }
      }
    }
    samples_.seconds = ms_between(start, SteadyClock::now()) / 1e3;
    return std::move(samples_);
  }

 private:
  Status submit() {
    api::Request request;
    request.id = next_id_++;
    std::uniform_int_distribution<int32_t> token(0, executor_.limits().vocab - 1);
    for (int64_t i = 0; i < s_.input_len; ++i) request.prompt.push_back(token(random_));
    request.sampling.temperature = 0;
    request.stop.max_tokens = static_cast<int32_t>(s_.output_len);
    request.arrival = SteadyClock::now();
    flying_[request.id] = {request.arrival, request.arrival, 0};
    return executor_.submit(std::move(request), events_);
  }

  // True when the request ended.
  bool on_event(const api::TokenEvent& event) {
    InFlight& flight = flying_.at(event.request);
    const auto now = SteadyClock::now();
    if (event.token >= 0) {
      (flight.tokens == 0 ? samples_.ttft_ms : samples_.itl_ms).push_back(ms_between(flight.last, now));
      flight.last = now;
      ++flight.tokens;
      ++samples_.output_tokens;
    }
    if (event.finish == api::FinishReason::kNone) return false;
    if (event.finish == api::FinishReason::kError) ++samples_.errors;
    samples_.e2e_ms.push_back(ms_between(flight.start, now));
    flying_.erase(event.request);
    return true;
  }

  const State& s_;
  executor::Executor& executor_;
  executor::EventQueue events_;
  std::mt19937_64 random_;
  api::RequestId next_id_ = 1;
  std::map<api::RequestId, InFlight> flying_;
  Samples samples_;
};

double percentile(std::vector<double>& values, double share) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<size_t>(share * static_cast<double>(values.size())))];
}

Json percentiles(std::vector<double>& values) {
  Json json;
  json.set("mean", values.empty() ? 0.0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()));
  json.set("p50", percentile(values, 0.5));
  json.set("p90", percentile(values, 0.9));
  json.set("p99", percentile(values, 0.99));
  return json;
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

Json report(const State& s, const engine::EngineMeta& meta, Samples& samples) {
  Json json;
  json.set("model", meta.model.name);
  json.set("precision", meta.model.precision);
  json.set("isa", meta.fingerprint.isa);
  json.set("input_len", s.input_len);
  json.set("output_len", s.output_len);
  json.set("concurrency", s.concurrency);
  json.set("requests", static_cast<int64_t>(samples.e2e_ms.size()));
  json.set("errors", samples.errors);
  json.set("ttft_ms", percentiles(samples.ttft_ms));
  json.set("itl_ms", percentiles(samples.itl_ms));
  json.set("e2e_ms", percentiles(samples.e2e_ms));
  json.set("output_tokens_per_second", static_cast<double>(samples.output_tokens) / samples.seconds);
  json.set("seconds", samples.seconds);
  json.set("machine", cpu_name());
  json.set("version", kVersion);
  json.set("commit", std::string_view(CAMSHAFT_COMMIT));
  return json;
}

void print_table(const Json& json) {
  std::printf("%s, %s, %s\n", json.find("model")->as_string().c_str(), json.find("precision")->as_string().c_str(),
              json.find("machine")->as_string().c_str());
  for (const char* name : {"ttft_ms", "itl_ms", "e2e_ms"}) {
    const Json& row = *json.find(name);
    std::printf("  %-8s p50 %9.2f  p90 %9.2f  p99 %9.2f\n", name, row.find("p50")->as_double(), row.find("p90")->as_double(),
                row.find("p99")->as_double());
  }
  std::printf("  %.1f output tokens/s\n", json.find("output_tokens_per_second")->as_double());
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("bench", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  base::MetricsRegistry metrics;
  const auto model = open_model(s.model, s.model_options, "", metrics);
  if (!model.ok()) return report_failure("bench", model.status(), FailedThing::kEngine);
  ClosedLoop loop(s, *(*model)->entry.executor);
  if (auto warm = loop.run(s.warmup, s.concurrency); !warm.ok())
    return report_failure("bench", warm.status(), FailedThing::kRequest);
  auto samples = loop.run(s.requests > 0 ? s.requests : 4 * s.concurrency, s.concurrency);
  if (!samples.ok()) return report_failure("bench", samples.status(), FailedThing::kRequest);
  const Json json = report(s, (*model)->engine->meta(), *samples);
  if (s.json) {
    std::puts(json.dump().c_str());
  } else {
    print_table(json);
  }
  return 0;
}

}  // namespace

const Command& bench_command() {
  static const Command command = {"bench", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
