// The table itself: each field's row, and what it does with its value.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <string>

#include "base/format.h"
#include "server/errors.h"
#include "server/openai/params.h"

namespace camshaft::server {
namespace {

namespace limits = generation::limits;
using generation::Range;

constexpr size_t kMaxSaltBytes = 128;
constexpr uint8_t kOpenAi = kChat | kCompletions;

using Apply = Status (*)(const Json&, Draft&);

// --- how a row is written -------------------------------------------------------------------------------------------------------

// Numbers that a wider type lets in have no range of their own.
constexpr Range kAnyNumber{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
constexpr Range kInt64{-9223372036854775808.0, 9223372036854775808.0};
constexpr Range kTopKOrOff{-1, limits::kTopK.max};  // -1 is off too

constexpr Field number(std::string_view name, uint8_t routes, Range range, Apply apply) {
  return {name, routes, kNumber, range, apply};
}
constexpr Field integer(std::string_view name, uint8_t routes, Range range, Apply apply) {
  return {name, routes, kInteger, range, apply};
}
constexpr Field value(std::string_view name, uint8_t routes, uint8_t types, Apply apply) {
  return {name, routes, types, kAnyNumber, apply};
}
constexpr Field flag(std::string_view name, uint8_t routes, Apply apply) { return value(name, routes, kBool, apply); }

float as_float(const Json& json) { return static_cast<float>(json.as_double()); }
int32_t as_int32(const Json& json) { return static_cast<int32_t>(*json.int_if()); }

// --- actions of more than a line ------------------------------------------------------------------------------------------------

Status accept(const Json&, Draft&) { return base::ok_status(); }

Status add_stop(const Json& stop, Draft& draft) {
  if (!stop.is_string()) return invalid_field("stop", format("expected strings, found {}", stop.kind_name()));
  const std::string& text = stop.as_string();
  if (text.empty()) return invalid_field("stop", "an empty stop string would stop at once");
  if (text.size() > limits::kMaxStopBytes)
    return invalid_field("stop", format("a string of {} bytes, at most {} are accepted", text.size(), limits::kMaxStopBytes));
  draft.call.request.stop.push_back(text);
  return base::ok_status();
}

Status set_stop(const Json& json, Draft& draft) {
  if (json.is_string()) return json.as_string().empty() ? base::ok_status() : add_stop(json, draft);
  const base::JsonArray& list = json.as_array();
  if (list.size() > limits::kMaxStops)
    return invalid_field("stop", format("{} strings, at most {} are accepted", list.size(), limits::kMaxStops));
  for (const Json& stop : list) CS_RETURN_IF_ERROR(add_stop(stop, draft));
  return base::ok_status();
}

Status set_stop_ids(const Json& json, Draft& draft) {
  const base::JsonArray& list = json.as_array();
  if (list.size() > limits::kMaxStopIds)
    return invalid_field("stop_token_ids", format("{} ids, at most {} are accepted", list.size(), limits::kMaxStopIds));
  for (const Json& id : list) {
    if (!id.is_integer()) return invalid_field("stop_token_ids", format("expected integers, found {}", id.kind_name()));
    if (id.int_if() == nullptr || *id.int_if() < 0 || *id.int_if() > INT32_MAX) {
      return invalid_field("stop_token_ids", "an id is outside the vocabulary");
    }
    draft.call.request.stop_token_ids.push_back(as_int32(id));
  }
  return base::ok_status();
}

Status add_bias(const base::JsonMember& member, Draft& draft) {
  const std::string& key = member.first;
  int32_t id = -1;
  const auto parsed = std::from_chars(key.data(), key.data() + key.size(), id);
  // In its one form: two keys must not name one token.
  if (parsed.ec != std::errc() || id < 0 || key != std::to_string(id)) {
    return invalid_field("logit_bias", "a key is not a token id in decimal digits without leading zeros");
  }
  if (!member.second.is_number())
    return invalid_field("logit_bias", format("expected numbers, found {}", member.second.kind_name()));
  const double bias = member.second.as_double();
  if (!limits::kBias.contains(bias))
    return invalid_field("logit_bias", format("a bias is outside {}..{}", limits::kBias.min, limits::kBias.max));
  draft.call.request.sampling.logit_bias.emplace_back(id, static_cast<float>(bias));
  return base::ok_status();
}

Status set_logit_bias(const Json& json, Draft& draft) {
  const base::JsonObject& biases = json.as_object();
  if (biases.size() > limits::kMaxLogitBias)
    return invalid_field("logit_bias", format("{} entries, at most {} are accepted", biases.size(), limits::kMaxLogitBias));
  for (const base::JsonMember& member : biases) CS_RETURN_IF_ERROR(add_bias(member, draft));
  return base::ok_status();
}

Status set_stream_option(const base::JsonMember& option, Draft& draft) {
  const std::string path = "stream_options." + option.first;
  bool* target = nullptr;
  if (option.first == "include_usage") target = &draft.call.include_usage;
  if (option.first == "continuous_usage_stats") target = &draft.call.continuous_usage;
  if ((target == nullptr && option.first != "include_obfuscation") || option.second.is_null()) return base::ok_status();
  if (!option.second.is_bool()) return invalid_field(path, format("expected a boolean, found {}", option.second.kind_name()));
  if (target != nullptr) *target = option.second.as_bool();
  return base::ok_status();
}

Status set_stream_options(const Json& json, Draft& draft) {
  draft.has_stream_options = true;
  for (const base::JsonMember& option : json.as_object()) CS_RETURN_IF_ERROR(set_stream_option(option, draft));
  return base::ok_status();
}

// A template trusts the special tokens and the structure it is given, so a request cannot replace them.
bool is_reserved_variable(std::string_view name) {
  for (const std::string_view reserved :
       {"messages", "tools", "documents", "add_generation_prompt", "continue_final_message", "chat_template"}) {
    if (name == reserved) return true;
  }
  return name.ends_with("_token") || name.ends_with("_tokens");
}

Status set_template_kwargs(const Json& json, Draft& draft) {
  for (const base::JsonMember& member : json.as_object()) {
    if (is_reserved_variable(member.first))
      return invalid_field("chat_template_kwargs", "holds a name that the server itself sets");
  }
  draft.chat.template_kwargs = json.as_object();
  return base::ok_status();
}

// --- what is known and not supported: neutral values pass ------------------------------------------------------------------------

bool is_string(const Json& json, std::string_view text) { return json.is_string() && json.as_string() == text; }
bool is_empty(const Json& json) {
  if (json.is_array()) return json.as_array().empty();
  if (json.is_object()) return json.as_object().empty();
  return json.is_string() && json.as_string().empty();
}
Status neutral_or_unsupported(bool neutral, std::string_view field) {
  return neutral ? base::ok_status() : unsupported_field(field, "is not supported by this server");
}

#define CS_REFUSED(name, routes, types, neutral) \
  value(name, routes, types, []([[maybe_unused]] const Json& json, Draft&) { return neutral_or_unsupported((neutral), name); })

#define CS_FOREIGN(name) CS_REFUSED(name, kAllRoutes, kAnyType, asks_for_nothing(json))

Status only_text_format(const Json& json, Draft&) {
  const Json* type = json.find("type");
  if (type == nullptr || !type->is_string()) return invalid_field("response_format.type", "must be a string");
  return neutral_or_unsupported(type->as_string() == "text", "response_format");
}

Status only_text_modality(const Json& json, Draft&) {
  const base::JsonArray& list = json.as_array();
  return neutral_or_unsupported(std::all_of(list.begin(), list.end(), [](const Json& item) { return is_string(item, "text"); }),
                                "modalities");
}

Status check_effort(const Json& json, Draft&) {
  for (const std::string_view effort : {"none", "minimal", "low", "medium", "high", "xhigh", "max"}) {
    if (is_string(json, effort)) return base::ok_status();
  }
  return invalid_field("reasoning_effort", "must be one of none, minimal, low, medium, high, xhigh, max");
}

// No cache is shared between requests yet, so any salt isolates; its form is checked all the same.
Status check_salt(const Json& json, Draft&) {
  const std::string& salt = json.as_string();
  if (salt.size() <= kMaxSaltBytes && salt.find_first_of(std::string_view("@/\\\0", 4)) == std::string::npos)
    return base::ok_status();
  return invalid_field("cache_salt", "at most 128 bytes without @ / \\ NUL");
}

// --- the table ------------------------------------------------------------------------------------------------------------------

#define CS_SET(statement)                      \
  [](const Json& json, Draft& draft) {         \
    auto& call = draft.call;                   \
    auto& request = call.request;              \
    auto& sampling = request.sampling;         \
    (void)sampling, (void)request, (void)json; \
    statement;                                 \
    return base::ok_status();                  \
  }

constexpr Field kFields[] = {
    // prompt
    value("model", kAllRoutes, kString, accept),  // looked up before the others
    value("messages", kChat, kArray, decode_messages),
    value("prompt", kCompletions, kString | kArray, decode_prompt),
    value("prompt", kGenerate, kString, decode_prompt),
    flag("add_special_tokens", kCompletions | kGenerate, CS_SET(draft.add_special_tokens = json.as_bool())),
    CS_REFUSED("add_special_tokens", kChat, kBool, !json.as_bool()),
    flag("add_generation_prompt", kChat,
         CS_SET(draft.add_generation_prompt_given = true; draft.chat.add_generation_prompt = json.as_bool())),
    flag("continue_final_message", kChat, CS_SET(draft.chat.continue_final_message = json.as_bool())),
    value("chat_template_kwargs", kChat, kObject, set_template_kwargs),
    // length and stopping
    integer("max_tokens", kAllRoutes, limits::kMaxTokens, CS_SET(draft.max_tokens = as_int32(json))),
    integer("max_completion_tokens", kOpenAi, limits::kMaxTokens, CS_SET(draft.max_new_tokens = as_int32(json))),
    integer("max_new_tokens", kGenerate, limits::kMaxTokens, CS_SET(draft.max_new_tokens = as_int32(json))),
    integer("min_tokens", kAllRoutes, limits::kMinTokens, CS_SET(request.min_tokens = as_int32(json))),
    flag("ignore_eos", kAllRoutes, CS_SET(request.ignore_eos = json.as_bool())),
    value("stop", kAllRoutes, kString | kArray, set_stop),
    value("stop_token_ids", kAllRoutes, kArray, set_stop_ids),
    flag("include_stop_str_in_output", kAllRoutes, CS_SET(request.include_stop_in_output = json.as_bool())),
    flag("skip_special_tokens", kAllRoutes, CS_SET(request.skip_special_tokens = json.as_bool())),
    // sampling
    number("temperature", kAllRoutes, limits::kTemperature, CS_SET(sampling.temperature = as_float(json))),
    number("top_p", kAllRoutes, limits::kTopP, CS_SET(sampling.top_p = as_float(json))),
    integer("top_k", kAllRoutes, kTopKOrOff, CS_SET(sampling.top_k = std::max(0, as_int32(json)))),
    number("min_p", kAllRoutes, limits::kMinP, CS_SET(sampling.min_p = as_float(json))),
    number("repetition_penalty", kAllRoutes, limits::kRepetitionPenalty, CS_SET(sampling.repetition_penalty = as_float(json))),
    number("presence_penalty", kAllRoutes, limits::kPenalty, CS_SET(sampling.presence_penalty = as_float(json))),
    number("frequency_penalty", kAllRoutes, limits::kPenalty, CS_SET(sampling.frequency_penalty = as_float(json))),
    value("logit_bias", kAllRoutes, kObject, set_logit_bias),
    integer("seed", kAllRoutes, kInt64, CS_SET(sampling.seed = static_cast<uint64_t>(*json.int_if()))),
    // the answer's form
    flag("stream", kAllRoutes, CS_SET(draft.stream = json.as_bool())),
    flag("streaming", kGenerate, CS_SET(draft.streaming = json.as_bool())),
    value("stream_options", kOpenAi, kObject, set_stream_options),
    integer("logprobs", kCompletions, limits::kLogprobs, CS_SET(sampling.logprobs = as_int32(json))),
    flag("logprobs", kChat, CS_SET(draft.wants_logprobs = json.as_bool())),
    integer("top_logprobs", kChat, limits::kLogprobs, CS_SET(draft.top_logprobs = as_int32(json))),
    flag("return_token_ids", kOpenAi, CS_SET(call.return_token_ids = json.as_bool())),
    flag("return_tokens_as_token_ids", kOpenAi, CS_SET(call.tokens_as_ids = json.as_bool())),
    // accepted, no effect
    value("user", kAllRoutes, kString, accept),
    value("safety_identifier", kAllRoutes, kString, accept),
    value("store", kAllRoutes, kBool, accept),
    value("metadata", kAllRoutes, kObject, accept),
    value("service_tier", kAllRoutes, kString, accept),
    value("verbosity", kAllRoutes, kString, accept),
    value("prediction", kAllRoutes, kObject, accept),
    value("prompt_cache_key", kAllRoutes, kString, accept),
    value("prompt_cache_retention", kAllRoutes, kString, accept),
    value("parallel_tool_calls", kAllRoutes, kBool, accept),
    value("reasoning_effort", kAllRoutes, kString, check_effort),
    value("request_id", kAllRoutes, kString, accept),
    value("session_id", kAllRoutes, kString, accept),
    value("cache_salt", kAllRoutes, kString, check_salt),
    // known, not supported; what changes nothing passes
    CS_REFUSED("n", kAllRoutes, kInteger, json.int_if() != nullptr && *json.int_if() == 1),
    CS_REFUSED("best_of", kAllRoutes, kInteger, json.int_if() != nullptr && *json.int_if() == 1),
    CS_REFUSED("echo", kAllRoutes, kBool, !json.as_bool()),
    CS_REFUSED("suffix", kAllRoutes, kString, json.as_string().empty()),
    CS_REFUSED("tools", kAllRoutes, kArray, is_empty(json)),
    CS_REFUSED("tool_choice", kAllRoutes, kString | kObject, is_string(json, "none") || is_string(json, "auto")),
    CS_REFUSED("functions", kAllRoutes, kArray, is_empty(json)),
    CS_REFUSED("function_call", kAllRoutes, kString | kObject, is_string(json, "none") || is_string(json, "auto")),
    value("response_format", kAllRoutes, kObject, only_text_format),
    value("modalities", kAllRoutes, kArray, only_text_modality),
    CS_REFUSED("audio", kAllRoutes, kObject, false),
    CS_REFUSED("web_search_options", kAllRoutes, kObject, false),
    CS_REFUSED("typical_p", kAllRoutes, kNumber, json.as_double() == 1),
    CS_REFUSED("bad_words", kAllRoutes, kArray, is_empty(json)),
    CS_REFUSED("allowed_token_ids", kAllRoutes, kArray, false),
    CS_REFUSED("prompt_logprobs", kAllRoutes, kInteger, false),
    CS_REFUSED("truncate_prompt_tokens", kAllRoutes, kInteger, false),
    CS_REFUSED("truncation_side", kAllRoutes, kString, false),
    CS_REFUSED("chat_template", kAllRoutes, kString, false),
    CS_REFUSED("documents", kAllRoutes, kArray, is_empty(json)),
    CS_REFUSED("structured_outputs", kAllRoutes, kObject, false),
    CS_REFUSED("guided_json", kAllRoutes, kAnyType, false),
    CS_REFUSED("guided_regex", kAllRoutes, kAnyType, false),
    CS_REFUSED("guided_choice", kAllRoutes, kAnyType, false),
    CS_REFUSED("guided_grammar", kAllRoutes, kAnyType, false),
    CS_REFUSED("guided_json_object", kAllRoutes, kAnyType, json.is_bool() && !json.as_bool()),
    CS_REFUSED("grammar", kAllRoutes, kAnyType, is_empty(json)),
    CS_REFUSED("json_schema", kAllRoutes, kAnyType, false),
    CS_REFUSED("priority", kAllRoutes, kInteger, json.int_if() != nullptr && *json.int_if() == 0),
    CS_REFUSED("kv_transfer_params", kAllRoutes, kObject, false),
    CS_REFUSED("stream_interval", kAllRoutes, kInteger, json.int_if() != nullptr && *json.int_if() == 1),
    CS_REFUSED("thinking_token_budget", kAllRoutes, kInteger, false),
    CS_REFUSED("use_beam_search", kAllRoutes, kBool, !json.as_bool()),
    CS_REFUSED("length_penalty", kAllRoutes, kNumber, json.as_double() == 1),
    CS_REFUSED("logprobs", kGenerate, kAnyType, json.is_bool() && !json.as_bool()),
    // words of other dialects: TGI, SGLang, Triton
    CS_FOREIGN("inputs"),
    CS_FOREIGN("parameters"),
    CS_FOREIGN("text"),
    CS_FOREIGN("input_ids"),
    CS_FOREIGN("sampling_params"),
    CS_FOREIGN("text_input"),
    CS_FOREIGN("return_logprob"),
    CS_FOREIGN("logprob_start_len"),
    CS_FOREIGN("top_logprobs_num"),
    CS_FOREIGN("return_full_text"),
    CS_FOREIGN("top_n_tokens"),
    CS_FOREIGN("decoder_input_details"),
    CS_FOREIGN("adapter_id"),
    CS_FOREIGN("stop_words"),
    CS_FOREIGN("beam_width"),
    CS_FOREIGN("num_return_sequences"),
    CS_FOREIGN("end_id"),
    // llama.cpp and Ollama
    CS_REFUSED("repeat_penalty", kAllRoutes, kAnyType, asks_for_nothing(json) || (json.is_number() && json.as_double() == 1)),
    CS_FOREIGN("n_predict"),
    CS_FOREIGN("num_predict"),
    CS_FOREIGN("options"),
    CS_FOREIGN("format"),
    CS_FOREIGN("template"),
    CS_FOREIGN("raw"),
    CS_FOREIGN("think"),
    // Responses and Messages
    CS_FOREIGN("input"),
    CS_FOREIGN("instructions"),
    CS_FOREIGN("max_output_tokens"),
    CS_FOREIGN("reasoning"),
    CS_FOREIGN("previous_response_id"),
    CS_FOREIGN("conversation"),
    CS_FOREIGN("background"),
    CS_FOREIGN("system"),
    CS_FOREIGN("stop_sequences"),
    CS_FOREIGN("thinking"),
};

#undef CS_SET
#undef CS_REFUSED
#undef CS_FOREIGN

}  // namespace

std::span<const Field> request_fields() { return kFields; }

bool asks_for_nothing(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::kBool: return !json.as_bool();
    case Json::Kind::kString: return json.as_string().empty();
    case Json::Kind::kArray: return json.as_array().empty();
    case Json::Kind::kObject: return json.as_object().empty();
    case Json::Kind::kNull: return true;
    default: return json.as_double() == 0;
  }
}

const Field* find_field(std::string_view name, uint8_t routes) {
  const auto found = std::find_if(std::begin(kFields), std::end(kFields),
                                  [&](const Field& field) { return field.name == name && (field.routes & routes) != 0; });
  return found == std::end(kFields) ? nullptr : found;
}

}  // namespace camshaft::server
