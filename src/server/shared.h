// What all I/O loops of a server share. Written at start; afterwards only the atomics and the locked parts change.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "generation/generation.h"
#include "server/server.h"
#include "server/server_metrics.h"

namespace camshaft::server {

// Names that were met, each once; full at a fixed size. Any thread.
class SeenNames {
 public:
  // Whether `name` is new and is remembered now.
  bool add(std::string_view name) {
    const std::lock_guard lock(mutex_);
    return names_.size() < kMaxNames && names_.emplace(name).second;
  }

 private:
  static constexpr size_t kMaxNames = 256;
  std::mutex mutex_;
  std::set<std::string, std::less<>> names_;
};

// Generations whose last event has not come. Any thread.
class JobCount {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }
  void remove() {
    const std::lock_guard lock(mutex_);
    if (--count_ == 0) none_.notify_all();
  }
  void wait_none() {
    std::unique_lock lock(mutex_);
    none_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable none_;
  int64_t count_ = 0;
};

struct Shared {
  Shared(const ServerOptions& server_options, std::vector<const generation::ModelEntry*> entries,
         base::MetricsRegistry& metrics_registry)
      : options(server_options), models(std::move(entries)), registry(metrics_registry), metrics(metrics_registry) {}

  const ServerOptions options;
  const std::vector<const generation::ModelEntry*> models;
  const base::MetricsRegistry& registry;
  const ServerMetrics metrics;
  std::atomic<bool> draining{false};
  std::atomic<api::RequestId> last_request_id{0};
  SeenNames unknown_fields;
  JobCount jobs;
};

}  // namespace camshaft::server
