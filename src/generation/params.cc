// Checks of request parameters, field by field.
#include "generation/params.h"

#include <string>

#include "base/format.h"
#include "base/utf8.h"

namespace camshaft::generation {
namespace {

Status wrong(const std::string& field, std::string message) {
  return base::invalid_argument(std::move(message)).with_subject(field);
}

Status in_range(const std::string& field, double value, const Range& range) {
  if (range.contains(value)) return base::ok_status();
  return wrong(field,
               format("{} is {:.7g}, allowed is {}{} to {}", field, value, range.min_open ? "above " : "", range.min, range.max));
}

Status at_most(const std::string& field, size_t count, size_t limit) {
  if (count <= limit) return base::ok_status();
  return wrong(field, format("{} has {} entries, the limit is {}", field, count, limit));
}

Status is_token(const std::string& field, int32_t id, int32_t vocab) {
  if (id >= 0 && id < vocab) return base::ok_status();
  return wrong(field, format("{} names token {}, the vocabulary has {}", field, id, vocab));
}

Status check_sampling(const api::SamplingParams& sampling, int32_t vocab) {
  CS_RETURN_IF_ERROR(in_range("temperature", sampling.temperature, limits::kTemperature));
  CS_RETURN_IF_ERROR(in_range("top_p", sampling.top_p, limits::kTopP));
  CS_RETURN_IF_ERROR(in_range("min_p", sampling.min_p, limits::kMinP));
  CS_RETURN_IF_ERROR(in_range("top_k", sampling.top_k, limits::kTopK));
  CS_RETURN_IF_ERROR(in_range("repetition_penalty", sampling.repetition_penalty, limits::kRepetitionPenalty));
  CS_RETURN_IF_ERROR(in_range("presence_penalty", sampling.presence_penalty, limits::kPenalty));
  CS_RETURN_IF_ERROR(in_range("frequency_penalty", sampling.frequency_penalty, limits::kPenalty));
  if (sampling.logprobs != -1) CS_RETURN_IF_ERROR(in_range("logprobs", sampling.logprobs, limits::kLogprobs));
  CS_RETURN_IF_ERROR(at_most("logit_bias", sampling.logit_bias.size(), limits::kMaxLogitBias));
  for (const auto& [id, bias] : sampling.logit_bias) {
    CS_RETURN_IF_ERROR(is_token("logit_bias", id, vocab));
    CS_RETURN_IF_ERROR(in_range("logit_bias", bias, limits::kBias));
  }
  return base::ok_status();
}

Status check_stops(const GenerationRequest& request, int32_t vocab) {
  CS_RETURN_IF_ERROR(at_most("stop", request.stop.size(), limits::kMaxStops));
  for (const std::string& stop : request.stop) {
    if (stop.empty()) return wrong("stop", "a stop string is empty");
    if (stop.size() > limits::kMaxStopBytes)
      return wrong("stop", format("a stop string has {} bytes, the limit is {}", stop.size(), limits::kMaxStopBytes));
    if (!base::is_utf8(stop)) return wrong("stop", "a stop string is not valid UTF-8");
  }
  CS_RETURN_IF_ERROR(at_most("stop_token_ids", request.stop_token_ids.size(), limits::kMaxStopIds));
  for (const int32_t id : request.stop_token_ids) CS_RETURN_IF_ERROR(is_token("stop_token_ids", id, vocab));
  return base::ok_status();
}

}  // namespace

Status check_params(const GenerationRequest& request, int32_t vocab) {
  CS_RETURN_IF_ERROR(check_sampling(request.sampling, vocab));
  CS_RETURN_IF_ERROR(check_stops(request, vocab));
  if (request.max_tokens) CS_RETURN_IF_ERROR(in_range("max_tokens", *request.max_tokens, limits::kMaxTokens));
  CS_RETURN_IF_ERROR(in_range("min_tokens", request.min_tokens, limits::kMinTokens));
  if (request.max_tokens && request.min_tokens > *request.max_tokens)
    return wrong("min_tokens", format("min_tokens is {}, above max_tokens {}", request.min_tokens, *request.max_tokens));
  return base::ok_status();
}

}  // namespace camshaft::generation
