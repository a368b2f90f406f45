// Ranges of everything a request may say about sampling and stopping: the one place where they are stated.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"
#include "generation/generation.h"

namespace camshaft::generation {

struct Range {
  double min;
  double max;
  bool min_open = false;  // min itself is outside
  // NaN is in no range.
  constexpr bool contains(double value) const { return (min_open ? value > min : value >= min) && value <= max; }
};

namespace limits {
inline constexpr Range kTemperature{0, 2};
inline constexpr Range kTopP{0, 1, true};
inline constexpr Range kTopK{0, INT32_MAX};  // 0: off
inline constexpr Range kMinP{0, 1};
inline constexpr Range kRepetitionPenalty{0, 100, true};
inline constexpr Range kPenalty{-2, 2};  // presence and frequency
inline constexpr Range kBias{-100, 100};
inline constexpr Range kLogprobs{0, 20};
inline constexpr Range kMaxTokens{1, INT32_MAX};
inline constexpr Range kMinTokens{0, INT32_MAX};
inline constexpr size_t kMaxStops = 16;
inline constexpr size_t kMaxStopBytes = 1024;
inline constexpr size_t kMaxStopIds = 1024;
inline constexpr size_t kMaxLogitBias = 1024;
}  // namespace limits

// invalid_argument with the field's name in OpenAI's words as subject. `vocab`: ids below it exist.
Status check_params(const GenerationRequest& request, int32_t vocab);

}  // namespace camshaft::generation
