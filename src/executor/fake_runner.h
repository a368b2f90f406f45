// A runner for tests. Its "model" hashes what the cache really holds of a sequence, and how often its slot sampled, to the next
// token: any mistake in block tables, recomputing or sampling changes the output, batching does not.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "runtime/model_runner.h"

namespace camshaft::executor {

inline int32_t hashed_token(std::span<const int32_t> known, uint64_t sampled, const runtime::SlotStart& start, int32_t vocab) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ start.sampling.seed;
  const auto mix = [&hash](uint64_t value) { hash = (hash ^ value) * 0xFF51AFD7ED558CCDu, hash ^= hash >> 32; };
  for (const int32_t token : known) mix(static_cast<uint64_t>(token));
  mix(sampled);
  auto token = static_cast<int32_t>(hash % static_cast<uint64_t>(vocab));
  const auto masked = [&] { return std::count(start.stop_ids.begin(), start.stop_ids.end(), token) > 0; };
  while (sampled < static_cast<uint64_t>(start.min_tokens) && masked()) token = (token + 1) % vocab;
  return token;
}

// What a request gets when it is alone, with unlimited memory.
struct Expected {
  std::vector<int32_t> tokens;
  api::FinishReason finish = api::FinishReason::kNone;
};
inline Expected expected_output(const api::Request& request, int32_t capacity, int32_t vocab) {
  const runtime::SlotStart start{
      .sampling = request.sampling, .stop_ids = request.stop.stop_ids, .min_tokens = request.stop.min_tokens};
  std::vector<int32_t> known = request.prompt;
  const int32_t max_tokens = std::min(request.stop.max_tokens, capacity - static_cast<int32_t>(known.size()));
  Expected out;
  while (out.finish == api::FinishReason::kNone) {
    const int32_t token = hashed_token(known, out.tokens.size(), start, vocab);
    known.push_back(token);
    out.tokens.push_back(token);
    const bool stops = std::count(start.stop_ids.begin(), start.stop_ids.end(), token) > 0;
    if (stops) {
      out.finish = api::FinishReason::kStop;
    } else if (static_cast<int32_t>(out.tokens.size()) >= max_tokens) {
      out.finish = api::FinishReason::kLength;
    }
  }
  return out;
}

class FakeRunner final : public runtime::ModelRunner {
 public:
  explicit FakeRunner(const runtime::RunnerLimits& limits)
      : limits_(limits), cells_(static_cast<size_t>(limits.num_blocks) * static_cast<size_t>(limits.block_tokens), -1) {}

  const runtime::RunnerLimits& limits() const override { return limits_; }

  Result<runtime::Ticket> submit(const runtime::Batch& batch) override {
    for (const runtime::SlotStart& start : batch.starts) slots_[start.slot] = {start, 0};
    check(batch);
    if (!complaint.empty()) return base::internal_error(complaint);
    for (const runtime::BatchSequence& sequence : batch.sequences) write(sequence);
    results_.clear();
    for (const runtime::BatchSequence& sequence : batch.sequences) {
      if (sequence.sample) results_.push_back(sample(sequence));
    }
    return ++ticket_;
  }

  Result<std::vector<runtime::SampledToken>> wait(runtime::Ticket) override {
    if (on_wait) CS_RETURN_IF_ERROR(on_wait());
    return std::move(results_);
  }

  std::function<Status()> on_wait;  // called within each wait()
  std::string complaint;            // what was wrong with a batch

 private:
  void check(const runtime::Batch& batch) {
    std::set<int32_t> slots;
    size_t rows = 0;
    for (const runtime::BatchSequence& sequence : batch.sequences) {
      rows += sequence.tokens.size();
      const auto end = static_cast<size_t>(sequence.start_position) + sequence.tokens.size();
      const auto per_block = static_cast<size_t>(limits_.block_tokens);
      if (!slots.insert(sequence.slot).second) complaint = format("slot {} is twice in the batch", sequence.slot);
      if (slots_.count(sequence.slot) == 0) complaint = format("slot {} was never started", sequence.slot);
      if (sequence.tokens.empty()) complaint = "a sequence without rows";
      if (sequence.blocks.size() != (end + per_block - 1) / per_block) complaint = "blocks do not cover the positions";
      if (end > static_cast<size_t>(limits_.max_seq_len)) complaint = format("position {} is past the limit", end);
    }
    if (batch.sequences.empty()) complaint = "an empty batch";
    if (rows > static_cast<size_t>(limits_.max_batch_tokens)) complaint = format("{} rows in the batch", rows);
  }

  int32_t& cell(const runtime::BatchSequence& sequence, size_t position) {
    const auto per_block = static_cast<size_t>(limits_.block_tokens);
    return cells_.at(static_cast<size_t>(sequence.blocks.at(position / per_block)) * per_block + position % per_block);
  }

  void write(const runtime::BatchSequence& sequence) {
    for (size_t i = 0; i < sequence.tokens.size(); ++i)
      cell(sequence, static_cast<size_t>(sequence.start_position) + i) = sequence.tokens[i];
  }

  runtime::SampledToken sample(const runtime::BatchSequence& sequence) {
    std::vector<int32_t> known(static_cast<size_t>(sequence.start_position) + sequence.tokens.size());
    for (size_t i = 0; i < known.size(); ++i) known[i] = cell(sequence, i);
    auto& [start, sampled] = slots_.at(sequence.slot);
    runtime::SampledToken out{.slot = sequence.slot, .token = hashed_token(known, sampled, start, limits_.vocab)};
    ++sampled;
    return out;
  }

  runtime::RunnerLimits limits_;
  std::vector<int32_t> cells_;  // [num_blocks * block_tokens], the token whose keys and values would stand there
  std::map<int32_t, std::pair<runtime::SlotStart, uint64_t>> slots_;
  std::vector<runtime::SampledToken> results_;
  runtime::Ticket ticket_ = 0;
};

}  // namespace camshaft::executor
