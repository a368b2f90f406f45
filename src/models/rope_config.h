// Rotary embedding settings as config.json and GGUF spell them.
#pragma once

#include "checkpoint/checkpoint.h"
#include "models/config_reader.h"
#include "ops/op.h"

namespace camshaft::models {

struct RopeSettings {
  ops::RopeParams rope;
  int64_t context_length = 0;  // what the scaling makes of the model's own
};

// config.json: rope_theta, rope_scaling (or rope_parameters, which may hold rope_theta too).
Result<RopeSettings> read_rope_from_json(const ConfigReader& config, int64_t head_dim, int64_t context_length);
// GGUF: <prefix>rope.*, and the tensor rope_freqs.weight.
Result<RopeSettings> read_rope_from_gguf(const ConfigReader& config, std::string_view prefix,
                                         const checkpoint::Checkpoint& checkpoint, int64_t head_dim, int64_t context_length);

}  // namespace camshaft::models
