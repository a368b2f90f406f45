// Chat messages: roles and contents checked, parts joined, what templates see.
#include <algorithm>
#include <iterator>

#include "base/format.h"
#include "server/errors.h"
#include "server/openai/params.h"

namespace camshaft::server {
namespace {

constexpr size_t kMaxMessages = 2048;

std::string path_of(size_t message, std::string_view member) { return format("messages.{}.{}", message, member); }

Status expected(const std::string& path, std::string_view what, const Json& found) {
  return invalid_field(path, format("expected {}, found {}", what, found.kind_name()));
}

// Templates know "system"; "developer" is the same under a newer name.
Result<std::string> role_of(const Json& message, size_t index) {
  const std::string path = path_of(index, "role");
  const Json* role = message.find("role");
  if (role == nullptr) return invalid_field(path, "is missing");
  if (!role->is_string()) return expected(path, "a string", *role);
  const std::string& name = role->as_string();
  if (name == "developer") return std::string("system");
  if (name == "system" || name == "user" || name == "assistant") return name;
  if (name == "tool" || name == "function") return unsupported_field(path, "tool results are not supported");
  return invalid_field(path, "must be one of system, developer, user, assistant");
}

// {"type":"text","text":"..."}; pictures, sound and files need another model.
Status append_part(const Json& part, const std::string& path, std::string& text) {
  if (!part.is_object()) return expected(path, "an object", part);
  const Json* type = part.find("type");
  if (type == nullptr || !type->is_string()) return invalid_field(path + ".type", "must be a string");
  if (type->as_string() != "text") return unsupported_field(path + ".type", "this model reads only parts of type text");
  const Json* value = part.find("text");
  if (value == nullptr || !value->is_string()) return invalid_field(path + ".text", "must be a string");
  text.append(value->as_string());
  return base::ok_status();
}

Result<std::string> join_parts(const base::JsonArray& parts, const std::string& path) {
  if (parts.empty()) return invalid_field(path, "the list of parts is empty");
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += '\n';
    CS_RETURN_IF_ERROR(append_part(parts[i], format("{}.{}", path, i), text));
  }
  return text;
}

Result<std::string> content_of(const Json& message, size_t index) {
  const std::string path = path_of(index, "content");
  const Json* content = message.find("content");
  if (content == nullptr || content->is_null()) return invalid_field(path, "is missing");
  if (content->is_string()) return content->as_string();
  if (content->is_array()) return join_parts(content->as_array(), path);
  return expected(path, "a string or a list of parts", *content);
}

Status refuse_tools(const Json& message, size_t index) {
  for (const std::string_view name : {"tool_calls", "function_call", "audio"}) {
    const Json* value = message.find(name);
    const bool neutral = value == nullptr || value->is_null() || (value->is_array() && value->as_array().empty());
    if (!neutral) return unsupported_field(path_of(index, name), "is not supported");
  }
  return base::ok_status();
}

// Members that templates may read besides role and content.
Status copy_texts(const Json& message, size_t index, Json& out) {
  for (const std::string_view name : {"name", "reasoning", "reasoning_content"}) {
    const Json* value = message.find(name);
    if (value == nullptr || value->is_null()) continue;
    if (!value->is_string()) return expected(path_of(index, name), "a string", *value);
    out.set(std::string(name), *value);
  }
  return base::ok_status();
}

Result<Json> decode_message(const Json& message, size_t index) {
  if (!message.is_object()) return expected(format("messages.{}", index), "an object", message);
  CS_ASSIGN_OR_RETURN(std::string role, role_of(message, index));
  CS_RETURN_IF_ERROR(refuse_tools(message, index));
  CS_ASSIGN_OR_RETURN(std::string content, content_of(message, index));
  Json out(base::JsonObject{});
  out.set("role", std::move(role));
  out.set("content", std::move(content));
  CS_RETURN_IF_ERROR(copy_texts(message, index, out));
  return out;
}

bool all_integers(const base::JsonArray& values) {
  return !values.empty() && std::all_of(values.begin(), values.end(), [](const Json& value) { return value.is_integer(); });
}

Result<std::vector<int32_t>> token_ids(const base::JsonArray& values) {
  std::vector<int32_t> ids;
  ids.reserve(values.size());
  for (const Json& value : values) {
    const int64_t* id = value.int_if();
    if (id == nullptr || *id < 0 || *id > INT32_MAX) return invalid_field("prompt", "a token id is outside the vocabulary");
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

}  // namespace

Status decode_messages(const Json& messages, Draft& draft) {
  const base::JsonArray& list = messages.as_array();
  if (list.empty()) return invalid_field("messages", "the list is empty");
  if (list.size() > kMaxMessages)
    return invalid_field("messages", format("{} messages, at most {} are accepted", list.size(), kMaxMessages));
  base::JsonArray decoded;
  for (size_t i = 0; i < list.size(); ++i) {
    CS_ASSIGN_OR_RETURN(Json message, decode_message(list[i], i));
    decoded.push_back(std::move(message));
  }
  draft.chat.messages = std::move(decoded);
  draft.has_prompt = true;
  return base::ok_status();
}

// string | [string] | [int] | [[int]]: one prompt in each form.
Status decode_prompt(const Json& prompt, Draft& draft) {
  draft.has_prompt = true;
  if (prompt.is_string()) {
    draft.call.request.prompt = generation::TextPrompt{prompt.as_string()};
    return base::ok_status();
  }
  const base::JsonArray& list = prompt.as_array();
  if (list.empty()) return invalid_field("prompt", "the list is empty");
  if (all_integers(list)) {
    CS_ASSIGN_OR_RETURN(std::vector<int32_t> ids, token_ids(list));
    draft.call.request.prompt = generation::TokenPrompt{std::move(ids)};
    return base::ok_status();
  }
  const Json& first = list.front();
  if (!first.is_string() && !(first.is_array() && all_integers(first.as_array()))) {
    return invalid_field("prompt", "expected a string, a list of token ids, or a list with one of them");
  }
  if (list.size() > 1)
    return unsupported_field("prompt", format("{} prompts in one request; send one request a prompt", list.size()));
  return decode_prompt(first, draft);
}

}  // namespace camshaft::server
