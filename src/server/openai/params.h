// The one table of request fields: name, routes, JSON type, range, and what it does. Body in, GenerationRequest or error out.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"
#include "generation/generation.h"
#include "generation/params.h"

namespace camshaft::server {

// Bits: a field may belong to several.
enum ApiRoute : uint8_t { kChat = 1, kCompletions = 2, kGenerate = 4 };
inline constexpr uint8_t kAllRoutes = kChat | kCompletions | kGenerate;

// A decoded request: what generation needs, and how the answer is to look.
struct Call {
  generation::GenerationRequest request;
  const generation::ModelEntry* model = nullptr;
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;
  bool return_token_ids = false;
  bool tokens_as_ids = false;  // logprob tokens as "token_id:N"
};

// JSON types as bits.
enum JsonTypes : uint8_t { kBool = 1, kInteger = 2, kNumber = 4, kString = 8, kArray = 16, kObject = 32, kAnyType = 63 };

// Values collected from a body before they are checked against each other.
struct Draft {
  Call call;
  bool has_stream_options = false;
  bool add_generation_prompt_given = false;
  bool wants_logprobs = false;  // chat: `logprobs`
  int32_t top_logprobs = 0;
  std::optional<int32_t> max_tokens;
  std::optional<int32_t> max_new_tokens;  // the same under its newer name, which depends on the route
  std::optional<bool> stream;
  std::optional<bool> streaming;  // the same on /generate
  bool has_prompt = false;
  bool add_special_tokens = true;
  generation::ChatPrompt chat;
};

struct Field {
  std::string_view name;
  uint8_t routes = 0;
  uint8_t types = 0;        // a null value counts as absent, whatever stands here
  generation::Range range;  // of numbers
  // What a value of right type and range does; an error refuses it.
  Status (*apply)(const Json& value, Draft& draft) = nullptr;
};

// In the order of the documentation. Names are unique per route.
std::span<const Field> request_fields();
// The field of that name that one of `routes` has, or nullptr.
const Field* find_field(std::string_view name, uint8_t routes);

// Off, zero, empty: what a request would have without the field.
bool asks_for_nothing(const Json& json);

struct DecodeContext {
  std::span<const generation::ModelEntry* const> models;
  bool strict = false;                                          // unknown fields are refused
  uint64_t seed = 0;                                            // for a request that brings none
  std::function<void(std::string_view name)> on_unknown_field;  // at most 64 bytes of it
};

Result<Call> decode_call(ApiRoute route, const Json& body, const DecodeContext& context);

// Steps of decode_call with files of their own.
Status decode_messages(const Json& messages, Draft& draft);
Status decode_prompt(const Json& prompt, Draft& draft);
Result<const generation::ModelEntry*> find_model(std::span<const generation::ModelEntry* const> models, std::string_view name);

}  // namespace camshaft::server
