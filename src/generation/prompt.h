// A prompt in any form to token ids.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "generation/generation.h"

namespace camshaft::generation {

// Never empty: an empty prompt starts from BOS, and is refused where the model has none.
Result<std::vector<int32_t>> encode_prompt(const ModelEntry& entry, const GenerationRequest& request, int32_t vocab);

}  // namespace camshaft::generation
