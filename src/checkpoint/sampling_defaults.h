// The model's own sampling defaults, from generation_config.json or GGUF metadata. Inside the room only.
#pragma once

#include <string_view>

#include "api/tokenizer_spec.h"
#include "base/json.h"
#include "base/status.h"

namespace camshaft::checkpoint {

struct SamplingKeys {
  std::string_view temperature, top_k, top_p, min_p, repetition_penalty;
};

// Absent and null members stay absent; a wrong type or a value outside its range is refused by name.
Status read_sampling_defaults(const Json& object, const SamplingKeys& keys, api::PromptSpec& prompt);

}  // namespace camshaft::checkpoint
