// Plan: the graph after lowering. Steps in order, buffers at fixed offsets, a kernel and tactics a step: everything a runner needs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "ops/op.h"

namespace camshaft::engine {

// Steps pick a tactic by the number of rows they get: bucket i serves rows <= max_rows[i] (and above the one before).
struct ShapeBucket {
  int64_t max_rows = 0;
};
// Index of the bucket that serves `rows` (1 <= rows <= the last bucket's max_rows).
size_t bucket_index(const std::vector<ShapeBucket>& buckets, int64_t rows);

// Where a step's operand lives.
struct Operand {
  enum class Place : uint8_t {
    kArena,      // activations: offset in the workspace arena, rows of `stride` elements
    kConstant,   // index into Plan::constants
    kIds,        // the batch's token ids, i32 [T]
    kLogitRows,  // the batch's row indices, i32 [R]
    kLogits,     // the runner's logits buffer, f32 [R, vocab]
    kKvState,    // no bytes
  };
  Place place = Place::kArena;
  int64_t offset = 0;     // kArena: bytes
  int64_t stride = 0;     // elements between rows
  int32_t constant = -1;  // kConstant
};

struct Step {
  std::string name;  // the node's: "layers.3.mlp.down"
  ops::OpDesc desc;
  ops::Symbol rows = ops::Symbol::kTokens;  // whether it runs over T or R rows
  std::string kernel;                       // kernels::find_kernel
  std::vector<int32_t> tactics;             // one a bucket
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  int64_t workspace_offset = 0;  // in the arena
  // For the report: why this kernel, what passes did, what each other candidate lacked.
  std::string note;
  std::vector<std::pair<std::string, std::string>> refused;  // kernel, reason
};

struct ConstantEntry {
  std::string name;
  std::string layout;  // kernels::find_layout
  tensor::Format format = tensor::Format::kF32;
  int64_t n = 0;
  int64_t k = 0;
  uint64_t offset = 0;  // in the constants section, a multiple of 64
  uint64_t bytes = 0;
};

// What the build did, pass by pass: for summaries and `inspect`.
struct PassRecord {
  std::string name;
  bool enabled = true;
  int64_t changes = 0;
  int64_t nodes_after = 0;
};

struct Plan {
  std::vector<ShapeBucket> buckets;  // ascending; the last one's max_rows is max_batch_tokens
  std::vector<Step> steps;
  std::vector<ConstantEntry> constants;
  std::vector<PassRecord> passes;
  ops::KvLayout kv;
  ops::RopeParams rope;
  int64_t arena_bytes = 0;       // activations and kernel workspaces, for max_batch_tokens rows
  int64_t max_batch_tokens = 0;  // T of one step
  int64_t max_logit_rows = 0;    // R of one step
  int max_workers = 0;           // threads the workspaces are sized for
  int64_t vocab = 0;
  int64_t context_length = 0;  // of the model: no position beyond
};

// For `inspect --json` and the build report; the file itself is binary (engine/sections).
Json plan_to_json(const Plan& plan);

}  // namespace camshaft::engine
