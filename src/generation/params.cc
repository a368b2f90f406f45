// Checks of request parameters, field by field.
#include "generation/params.h"

#include <cmath>
#include <string>

#include "base/format.h"
#include "base/utf8.h"

namespace camshaft::generation {
namespace {

Status wrong(const std::string& field, std::string message) {
  return base::invalid_argument(std::move(message)).with_subject(field);
}

// NaN is in no range.
Status in_range(const std::string& field, double value, double low, double high) {
  if (value >= low && value <= high) return base::ok_status();
  return wrong(field, format("{} is {:.7g}, allowed is {} to {}", field, value, low, high));
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
  CS_RETURN_IF_ERROR(in_range("temperature", sampling.temperature, 0, 2));
  CS_RETURN_IF_ERROR(in_range("top_p", sampling.top_p, 0, 1));
  if (sampling.top_p == 0) return wrong("top_p", "top_p is 0, it must be more; temperature 0 is greedy");
  CS_RETURN_IF_ERROR(in_range("min_p", sampling.min_p, 0, 1));
  if (sampling.top_k < 0) return wrong("top_k", format("top_k is {}, the least is 0, which is off", sampling.top_k));
  if (!(sampling.repetition_penalty > 0) || !std::isfinite(sampling.repetition_penalty))
    return wrong("repetition_penalty", format("repetition_penalty is {}, it must be above 0", sampling.repetition_penalty));
  CS_RETURN_IF_ERROR(in_range("presence_penalty", sampling.presence_penalty, -2, 2));
  CS_RETURN_IF_ERROR(in_range("frequency_penalty", sampling.frequency_penalty, -2, 2));
  CS_RETURN_IF_ERROR(in_range("logprobs", sampling.logprobs, -1, kMaxTopLogprobs));
  CS_RETURN_IF_ERROR(at_most("logit_bias", sampling.logit_bias.size(), kMaxLogitBias));
  for (const auto& [id, bias] : sampling.logit_bias) {
    CS_RETURN_IF_ERROR(is_token("logit_bias", id, vocab));
    CS_RETURN_IF_ERROR(in_range("logit_bias", bias, -100, 100));
  }
  return base::ok_status();
}

Status check_stops(const GenerationRequest& request, int32_t vocab) {
  CS_RETURN_IF_ERROR(at_most("stop", request.stop.size(), kMaxStops));
  for (const std::string& stop : request.stop) {
    if (stop.empty()) return wrong("stop", "a stop string is empty");
    if (stop.size() > kMaxStopBytes)
      return wrong("stop", format("a stop string has {} bytes, the limit is {}", stop.size(), kMaxStopBytes));
    if (!base::is_utf8(stop)) return wrong("stop", "a stop string is not valid UTF-8");
  }
  CS_RETURN_IF_ERROR(at_most("stop_token_ids", request.stop_token_ids.size(), kMaxStopIds));
  for (const int32_t id : request.stop_token_ids) CS_RETURN_IF_ERROR(is_token("stop_token_ids", id, vocab));
  return base::ok_status();
}

}  // namespace

Status check_params(const GenerationRequest& request, int32_t vocab) {
  CS_RETURN_IF_ERROR(check_sampling(request.sampling, vocab));
  CS_RETURN_IF_ERROR(check_stops(request, vocab));
  if (request.max_tokens && *request.max_tokens < 1)
    return wrong("max_tokens", format("max_tokens is {}, the least is 1", *request.max_tokens));
  if (request.min_tokens < 0) return wrong("min_tokens", format("min_tokens is {}, the least is 0", request.min_tokens));
  if (request.max_tokens && request.min_tokens > *request.max_tokens)
    return wrong("min_tokens", format("min_tokens is {}, above max_tokens {}", request.min_tokens, *request.max_tokens));
  return base::ok_status();
}

}  // namespace camshaft::generation
