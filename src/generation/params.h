// Ranges of everything a request may say about sampling and stopping: the one place where they are checked.
#pragma once

#include "base/status.h"
#include "generation/generation.h"

namespace camshaft::generation {

inline constexpr int32_t kMaxTopLogprobs = 20;
inline constexpr size_t kMaxStops = 16;
inline constexpr size_t kMaxStopBytes = 1024;
inline constexpr size_t kMaxStopIds = 1024;
inline constexpr size_t kMaxLogitBias = 1024;

// invalid_argument with the field's name in OpenAI's words as subject. `vocab`: ids below it exist.
Status check_params(const GenerationRequest& request, int32_t vocab);

}  // namespace camshaft::generation
