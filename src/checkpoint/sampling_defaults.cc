// Reads numbers with ranges into a PromptSpec.
#include "checkpoint/sampling_defaults.h"

#include "base/format.h"

namespace camshaft::checkpoint {
namespace {

Result<std::optional<double>> number(const Json& object, std::string_view key, double low, double high) {
  const Json* value = object.find(key);
  if (value == nullptr || value->is_null()) return std::optional<double>();
  if (!value->is_number()) return base::data_loss(format("'{}' is of type {}, a number is expected", key, value->kind_name()));
  const double as_double = value->as_double();
  if (!(as_double >= low && as_double <= high)) {
    return base::data_loss(format("'{}' is {}; a number from {} to {} is expected", key, value->dump(), low, high));
  }
  return std::optional<double>(as_double);
}

}  // namespace

Status read_sampling_defaults(const Json& object, const SamplingKeys& keys, api::PromptSpec& prompt) {
  CS_ASSIGN_OR_RETURN(prompt.temperature, number(object, keys.temperature, 0, 100));
  CS_ASSIGN_OR_RETURN(prompt.top_p, number(object, keys.top_p, 0, 1));
  CS_ASSIGN_OR_RETURN(prompt.min_p, number(object, keys.min_p, 0, 1));
  CS_ASSIGN_OR_RETURN(prompt.repetition_penalty, number(object, keys.repetition_penalty, 0, 100));
  CS_ASSIGN_OR_RETURN(const std::optional<double> top_k, number(object, keys.top_k, -1, INT32_MAX));
  if (top_k) prompt.top_k = static_cast<int32_t>(*top_k);
  return base::ok_status();
}

}  // namespace camshaft::checkpoint
