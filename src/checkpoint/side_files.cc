// Reads side files, and makes the prompt format out of them.
#include "checkpoint/side_files.h"

#include <algorithm>

#include "base/format.h"
#include "base/utf8.h"
#include "checkpoint/content.h"
#include "checkpoint/sampling_defaults.h"
#include "checkpoint/tokenizer_json.h"
#include "checkpoint/vocabulary_limits.h"

namespace camshaft::checkpoint {
namespace {

constexpr uint64_t kMaxConfigBytes = uint64_t{64} << 20;

void hash_json(base::Hasher& hasher, std::string_view name, const std::optional<Json>& json) {
  if (!json) return;
  hash_text(hasher, name);
  hash_text(hasher, json->dump());
}

// Neither JSON nor text that is no UTF-8 becomes a template.
Result<std::string> template_text(const Json& value, std::string_view where) {
  if (!value.is_string()) return base::data_loss(format("{} is of type {}, a string is expected", where, value.kind_name()));
  if (value.as_string().size() > kMaxTemplateBytes) {
    return base::resource_exhausted(format("{} has {} bytes, the limit is {}", where, value.as_string().size(), kMaxTemplateBytes));
  }
  return value.as_string();
}

Status add_named_template(const Json& entry, std::string_view where, api::PromptSpec& prompt) {
  const Json* name = entry.find("name");
  const Json* source = entry.find("template");
  if (name == nullptr || !name->is_string() || source == nullptr) {
    return base::data_loss(format("{}: each template of a list needs 'name' and 'template'", where));
  }
  CS_ASSIGN_OR_RETURN(std::string text, template_text(*source, format("{}, template '{}'", where, name->as_string())));
  if (name->as_string() == "default") {
    prompt.chat_template = std::move(text);
  } else {
    prompt.named_templates.emplace_back(name->as_string(), std::move(text));
  }
  return base::ok_status();
}

// A string, or a list of {name, template}.
Status read_template(const Json* value, std::string_view where, api::PromptSpec& prompt) {
  if (value == nullptr || value->is_null()) return base::ok_status();
  if (!value->is_array()) {
    CS_ASSIGN_OR_RETURN(prompt.chat_template, template_text(*value, where));
    return base::ok_status();
  }
  for (const Json& entry : value->as_array()) CS_RETURN_IF_ERROR(add_named_template(entry, where, prompt));
  return base::ok_status();
}

// The file chat_template.jinja goes before chat_template.json, and both before tokenizer_config.json.
Status read_templates(const SideFiles& files, api::PromptSpec& prompt) {
  if (files.tokenizer_config) {
    CS_RETURN_IF_ERROR(
        read_template(files.tokenizer_config->find("chat_template"), "tokenizer_config.json: chat_template", prompt));
  }
  if (files.chat_template_json) {
    CS_RETURN_IF_ERROR(read_template(files.chat_template_json->find("chat_template"), "chat_template.json: chat_template", prompt));
  }
  if (files.chat_template_jinja) prompt.chat_template = *files.chat_template_jinja;
  return base::ok_status();
}

// "bos_token" and its like, as a string or as an object with "content".
void add_special_tokens(const std::optional<Json>& source, api::PromptSpec& prompt) {
  if (!source) return;
  for (const auto& [key, value] : source->as_object()) {
    const Json* text = value.is_object() ? value.find("content") : &value;
    if (!key.ends_with("_token") || text == nullptr || !text->is_string()) continue;
    const auto known = std::find_if(prompt.special_tokens.begin(), prompt.special_tokens.end(),
                                    [&name = key](const auto& pair) { return pair.first == name; });
    if (known == prompt.special_tokens.end()) prompt.special_tokens.emplace_back(key, text->as_string());
  }
}

std::string text_of(const api::TokenizerSpec& tokenizer, std::optional<int32_t> id) {
  return id ? tokenizer.tokens[static_cast<size_t>(*id)] : "";
}

}  // namespace

Result<SideFiles> SideFiles::read(const Folder& folder, std::string_view tokenizer_name) {
  SideFiles files;
  CS_ASSIGN_OR_RETURN(files.config, folder.read_json("config.json", kMaxConfigBytes));
  CS_ASSIGN_OR_RETURN(files.generation_config, folder.read_json("generation_config.json", kMaxConfigBytes));
  CS_ASSIGN_OR_RETURN(files.tokenizer_config, folder.read_json("tokenizer_config.json", kMaxConfigBytes));
  CS_ASSIGN_OR_RETURN(files.special_tokens_map, folder.read_json("special_tokens_map.json", kMaxConfigBytes));
  CS_ASSIGN_OR_RETURN(files.chat_template_json, folder.read_json("chat_template.json", kMaxConfigBytes));
  CS_ASSIGN_OR_RETURN(files.chat_template_jinja, folder.read("chat_template.jinja", kMaxTemplateBytes));
  if (files.chat_template_jinja && !base::is_utf8(*files.chat_template_jinja)) {
    return base::data_loss(format("{} is not valid UTF-8", (folder.path() / "chat_template.jinja").native()));
  }
  auto tokenizer = folder.map(tokenizer_name);
  if (tokenizer.ok()) {
    files.tokenizer = std::move(tokenizer).value();
  } else if (tokenizer.status().code() != Code::kNotFound) {
    return std::move(tokenizer).status();
  }
  return files;
}

void SideFiles::hash(base::Hasher& hasher) const {
  hash_json(hasher, "config", config);
  hash_json(hasher, "generation_config", generation_config);
  hash_json(hasher, "tokenizer_config", tokenizer_config);
  hash_json(hasher, "special_tokens_map", special_tokens_map);
  hash_json(hasher, "chat_template", chat_template_json);
  if (chat_template_jinja) {
    hash_text(hasher, "chat_template.jinja");
    hash_text(hasher, *chat_template_jinja);
  }
  if (tokenizer) {
    hash_text(hasher, "tokenizer");
    hash_file(hasher, *tokenizer);
  }
}

Result<api::TokenizerSpec> tokenizer_of(const SideFiles& files) {
  if (!files.tokenizer) return api::TokenizerSpec();
  const auto bytes = files.tokenizer->bytes();
  const TokenizerFiles parts{
      std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
      files.tokenizer_config ? &*files.tokenizer_config : nullptr, files.special_tokens_map ? &*files.special_tokens_map : nullptr,
      files.generation_config ? &*files.generation_config : nullptr, files.config ? &*files.config : nullptr};
  auto spec = tokenizer_of(parts);
  if (!spec.ok()) return std::move(spec).status().with_context(files.tokenizer->path().native());
  return spec;
}

Result<api::PromptSpec> prompt_of(const SideFiles& files, const api::TokenizerSpec& tokenizer) {
  api::PromptSpec prompt;
  CS_RETURN_IF_ERROR(read_templates(files, prompt));
  add_special_tokens(files.tokenizer_config, prompt);
  add_special_tokens(files.special_tokens_map, prompt);
  prompt.bos_token = text_of(tokenizer, tokenizer.bos);
  prompt.eos_token = text_of(tokenizer, tokenizer.eos);
  for (const auto& [name, text] : prompt.special_tokens) {
    if (name == "bos_token") prompt.bos_token = text;
    if (name == "eos_token") prompt.eos_token = text;
  }
  if (!files.generation_config) return prompt;
  auto status =
      read_sampling_defaults(*files.generation_config, {"temperature", "top_k", "top_p", "min_p", "repetition_penalty"}, prompt);
  if (!status.ok()) return std::move(status).with_context("generation_config.json");
  return prompt;
}

}  // namespace camshaft::checkpoint
