// A body to a Call: model, defaults, field by field through the table, then fields against each other.
#include "server/openai/params.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/format.h"
#include "base/utf8.h"
#include "server/errors.h"

namespace camshaft::server {
namespace {

constexpr int32_t kCompletionTokens = 16;  // where a completion says nothing
constexpr int32_t kGenerateTokens = 512;
constexpr size_t kLongestNameShown = 128;  // bytes of an unknown model's name in the refusal

uint8_t type_bits(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kBool: return kBool;
    case Json::Kind::kInt:
    case Json::Kind::kUint: return kInteger | kNumber;
    case Json::Kind::kDouble: return kNumber;
    case Json::Kind::kString: return kString;
    case Json::Kind::kArray: return kArray;
    case Json::Kind::kObject: return kObject;
    case Json::Kind::kNull: return 0;
  }
  return 0;
}

std::string type_names(uint8_t types) {
  constexpr std::pair<uint8_t, std::string_view> kNames[] = {{kBool, "a boolean"},  {kInteger, "an integer"},
                                                             {kNumber, "a number"}, {kString, "a string"},
                                                             {kArray, "a list"},    {kObject, "an object"}};
  std::string out;
  for (const auto& [bit, name] : kNames) {
    if ((types & bit) == 0) continue;
    out.append(out.empty() ? "" : " or ").append(name);
  }
  return out;
}

// Whole numbers with all their digits; what is beyond the integers of a request is their end.
std::string limit_text(double limit) {
  if (limit >= 0x1p63) return std::to_string(INT64_MAX);
  if (limit <= -0x1p63) return std::to_string(INT64_MIN);
  return limit == std::trunc(limit) ? std::to_string(static_cast<int64_t>(limit)) : format("{}", limit);
}

Status check_range(const Field& field, const Json& json) {
  if (!json.is_number() || (field.types & (kInteger | kNumber)) == 0) return base::ok_status();
  const double number = json.as_double();
  const bool exact = (field.types & kNumber) != 0 || json.int_if() != nullptr;
  const auto& [min, max, min_open] = field.range;
  const bool inside = field.range.contains(number) && exact;
  const bool vanishes = inside && min_open && !field.range.contains(static_cast<float>(number));  // sampling counts in floats
  if (inside && !vanishes) return base::ok_status();
  return invalid_field(field.name, format("is {}, must be {} {} and at most {}{}", json.dump(), min_open ? "over" : "at least",
                                          limit_text(min), limit_text(max), vanishes ? "; as a 32-bit float it is 0" : ""));
}

Status apply_field(const Field& field, const Json& json, Draft& draft) {
  if ((type_bits(json) & field.types) == 0) {
    const std::string found = json.kind() == Json::Kind::kDouble ? json.dump() : std::string(json.kind_name());
    return invalid_field(field.name, format("expected {}, found {}", type_names(field.types), found));
  }
  CS_RETURN_IF_ERROR(check_range(field, json));
  return field.apply(json, draft);
}

constexpr size_t kMaxShownName = 64;

// The name as logs and answers may show it: short, and whole characters.
Status unknown_field(std::string_view name, const DecodeContext& context) {
  name = name.substr(0, base::utf8_valid_prefix(name.substr(0, kMaxShownName)));
  if (context.on_unknown_field) context.on_unknown_field(name);
  if (!context.strict) return base::ok_status();
  return invalid_field(name, "unknown field, and this server runs with --strict-requests");
}

// Not on this route. What another one would obey is not passed over in silence here.
Status foreign_field(const base::JsonMember& member, const DecodeContext& context) {
  if (find_field(member.first, kAllRoutes) == nullptr) return unknown_field(member.first, context);
  if (asks_for_nothing(member.second)) return base::ok_status();
  return unsupported_field(member.first, "belongs to another route and has no effect on this one");
}

// What the model's own files recommend stands where the request is silent.
void apply_defaults(ApiRoute route, const DecodeContext& context, Draft& draft) {
  generation::GenerationRequest& request = draft.call.request;
  request.sampling = generation::default_sampling(*draft.call.model);
  request.sampling.seed = context.seed;
  if (route == kCompletions) request.default_max_tokens = kCompletionTokens;
  if (route == kGenerate) {
    request.default_max_tokens = kGenerateTokens;
    request.sampling.temperature = 0.9f;
    request.sampling.top_p = 0.95f;
  }
}

Status check_chat(Draft& draft) {
  if (draft.top_logprobs > 0 && !draft.wants_logprobs) return invalid_field("top_logprobs", "needs logprobs to be true");
  if (draft.wants_logprobs) draft.call.request.sampling.logprobs = draft.top_logprobs;
  if (!draft.chat.continue_final_message) return base::ok_status();
  if (draft.add_generation_prompt_given && draft.chat.add_generation_prompt) {
    return invalid_field("continue_final_message", "excludes add_generation_prompt");
  }
  draft.chat.add_generation_prompt = false;
  return base::ok_status();
}

Status check_token_id(std::string_view field, int32_t id, int32_t vocab) {
  if (id < vocab) return base::ok_status();
  return invalid_field(field, format("token id {} is outside the vocabulary of {}", id, vocab));
}

template <typename T>
Status check_agreement(std::string_view name, const std::optional<T>& value, std::string_view older,
                       const std::optional<T>& other) {
  if (!value || !other || *value == *other) return base::ok_status();
  return invalid_field(name, format("is {} and {} is {}; send one of them", *value, older, *other));
}

// Two names of one thing must agree; in a chat max_completion_tokens takes the place of max_tokens.
Status merge_names(ApiRoute route, Draft& draft) {
  const std::string_view newer = route == kGenerate ? "max_new_tokens" : "max_completion_tokens";
  if (route != kChat) CS_RETURN_IF_ERROR(check_agreement(newer, draft.max_new_tokens, "max_tokens", draft.max_tokens));
  CS_RETURN_IF_ERROR(check_agreement("streaming", draft.streaming, "stream", draft.stream));
  draft.call.request.max_tokens = draft.max_new_tokens ? draft.max_new_tokens : draft.max_tokens;
  draft.call.stream = draft.streaming.value_or(draft.stream.value_or(false));
  return base::ok_status();
}

// Fields against each other and against the model.
Status check_together(ApiRoute route, Draft& draft) {
  CS_RETURN_IF_ERROR(merge_names(route, draft));
  generation::GenerationRequest& request = draft.call.request;
  if (!draft.has_prompt) return invalid_field(route == kChat ? "messages" : "prompt", "is missing");
  if (draft.has_stream_options && !draft.call.stream)
    return invalid_field("stream_options", "is only for streams; set stream to true");
  const int32_t wanted = request.max_tokens.value_or(request.default_max_tokens);
  if (wanted > 0 && request.min_tokens > wanted) {
    return invalid_field("min_tokens", format("{} is more than the {} tokens to generate", request.min_tokens, wanted));
  }
  const int32_t vocab = draft.call.model->executor->limits().vocab;
  for (const int32_t id : request.stop_token_ids) CS_RETURN_IF_ERROR(check_token_id("stop_token_ids", id, vocab));
  for (const auto& [id, bias] : request.sampling.logit_bias) CS_RETURN_IF_ERROR(check_token_id("logit_bias", id, vocab));
  return route == kChat ? check_chat(draft) : base::ok_status();
}

void place_prompt(ApiRoute route, Draft& draft) {
  generation::GenerationRequest& request = draft.call.request;
  if (route == kChat) request.prompt = std::move(draft.chat);
  if (auto* text = std::get_if<generation::TextPrompt>(&request.prompt)) text->add_special_tokens = draft.add_special_tokens;
}

Result<const generation::ModelEntry*> model_of(const Json& body, const DecodeContext& context) {
  const Json* name = body.find("model");
  if (name != nullptr && name->is_string()) return find_model(context.models, name->as_string());
  if (name != nullptr && !name->is_null()) return invalid_field("model", format("expected a string, found {}", name->kind_name()));
  if (context.models.size() != 1) return invalid_field("model", "is missing; this server has several models");
  return context.models.front();
}

}  // namespace

Result<const generation::ModelEntry*> find_model(std::span<const generation::ModelEntry* const> models, std::string_view name) {
  for (const generation::ModelEntry* model : models) {
    if (model->name == name) return model;
  }
  name = name.substr(0, kLongestNameShown);
  name = name.substr(0, base::utf8_valid_prefix(name));
  return base::not_found(format("there is no model '{}' here; GET /v1/models lists them", name))
      .with_subject("model")
      .with_reason(std::string(kModelNotFound));
}

Result<Call> decode_call(ApiRoute route, const Json& body, const DecodeContext& context) {
  if (!body.is_object()) return base::invalid_argument(format("the body must be a JSON object, found {}", body.kind_name()));
  Draft draft;
  CS_ASSIGN_OR_RETURN(draft.call.model, model_of(body, context));
  apply_defaults(route, context, draft);
  for (const base::JsonMember& member : body.as_object()) {
    const Field* field = find_field(member.first, route);
    if (field == nullptr) {
      CS_RETURN_IF_ERROR(foreign_field(member, context));
    } else if (!member.second.is_null()) {
      CS_RETURN_IF_ERROR(apply_field(*field, member.second, draft));
    }
  }
  CS_RETURN_IF_ERROR(check_together(route, draft));
  place_prompt(route, draft);
  return std::move(draft.call);
}

}  // namespace camshaft::server
