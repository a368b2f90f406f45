// Model families: config mapping, tensor table and graph function, one file a family; models/list.cc names them.
// Second stage of the build road: Checkpoint > ModelConfig + Graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "checkpoint/checkpoint.h"
#include "graph/graph.h"
#include "ops/op.h"

namespace camshaft::models {

// What every decoder family has in common, whatever the file called it.
struct ModelConfig {
  std::string family;  // "llama"
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t intermediate = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t vocab = 0;
  int64_t context_length = 0;
  float norm_eps = 1e-5f;
  ops::RopeParams rope;
  bool tied_embeddings = false;  // the head is the embedding table
  bool attention_bias = false;   // q, k, v
  bool output_bias = false;      // o
  bool mlp_bias = false;
};

struct ModelFamily {
  std::string_view name;
  // Whether this family reads the checkpoint (GGUF general.architecture, config.json model_type / architectures).
  bool (*matches)(const checkpoint::Checkpoint& checkpoint);
  // Errors name the key, what was found and what is allowed.
  Result<ModelConfig> (*config)(const checkpoint::Checkpoint& checkpoint);
  // The decoder as plain ops: input "ids" i32 [T], input "logit_rows" i32 [R], output "logits" f32 [R, vocab].
  // A missing tensor or one of another shape is an error naming it with both shapes.
  Result<graph::Graph> (*build)(const ModelConfig& config, const checkpoint::Checkpoint& checkpoint);
};

std::span<const ModelFamily> model_families();
// unimplemented(), naming the architecture found and the families there are.
Result<const ModelFamily*> find_family(const checkpoint::Checkpoint& checkpoint);

}  // namespace camshaft::models
