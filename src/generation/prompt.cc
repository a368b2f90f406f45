// Template and tokenizer: from what a client sent to ids.
#include "generation/prompt.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/utf8.h"

namespace camshaft::generation {
namespace {

int64_t now_unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

base::JsonObject template_variables(const api::PromptSpec& spec) {
  base::JsonObject variables;
  variables.emplace_back("bos_token", spec.bos_token);
  variables.emplace_back("eos_token", spec.eos_token);
  for (const auto& [name, text] : spec.special_tokens) {
    if (name != "bos_token" && name != "eos_token") variables.emplace_back(name, text);
  }
  return variables;
}

// A client's variables come behind the model's and must not replace them: those may hold control tokens.
Status add_kwargs(const base::JsonObject& kwargs, base::JsonObject& variables) {
  constexpr std::string_view kOwnFields[] = {"messages", "tools", "documents", "add_generation_prompt"};
  const size_t own = variables.size();
  for (const auto& [name, value] : kwargs) {
    bool taken = std::find(std::begin(kOwnFields), std::end(kOwnFields), name) != std::end(kOwnFields);
    for (size_t i = 0; i < own; ++i) taken = taken || variables[i].first == name;
    if (taken) return base::invalid_argument(format("'{}' cannot be set here", name)).with_subject("chat_template_kwargs");
    variables.emplace_back(name, value);
  }
  return base::ok_status();
}

// Where the caller can find it: the tokenizer would count bytes of the rendered text.
Status check_texts(const Json& messages) {
  if (!messages.is_array()) return base::ok_status();
  for (size_t i = 0; i < messages.as_array().size(); ++i) {
    const Json& message = messages.as_array()[i];
    if (!message.is_object()) continue;
    for (const auto& [name, value] : message.as_object()) {
      if (!value.is_string()) continue;
      const size_t valid = base::utf8_valid_prefix(value.as_string());
      if (valid == value.as_string().size()) continue;
      const std::string field = format("messages.{}.{}", i, name);
      return base::invalid_argument(format("{} is not valid UTF-8 at byte {} of {}", field, valid, value.as_string().size()))
          .with_subject(field);
    }
  }
  return base::ok_status();
}

// The template writes BOS itself where it wants one.
Result<std::vector<int32_t>> encode(const ModelEntry& entry, const ChatPrompt& chat) {
  if (entry.chat_template == nullptr) {
    return base::invalid_argument(format("model '{}' has no chat template; send a text prompt", entry.name))
        .with_subject("messages")
        .with_reason("no_chat_template");
  }
  if (chat.add_generation_prompt && chat.continue_final_message)
    return base::invalid_argument("continue_final_message excludes add_generation_prompt").with_subject("continue_final_message");
  CS_RETURN_IF_ERROR(check_texts(chat.messages));
  text::TemplateInput input{.messages = chat.messages,
                            .tools = chat.tools,
                            .add_generation_prompt = chat.add_generation_prompt,
                            .continue_final_message = chat.continue_final_message,
                            .variables = template_variables(entry.prompt),
                            .now_unix_seconds = chat.now_unix_seconds ? *chat.now_unix_seconds : now_unix_seconds()};
  CS_RETURN_IF_ERROR(add_kwargs(chat.template_kwargs, input.variables));
  Result<std::vector<text::Span>> spans = entry.chat_template->render(input);
  if (!spans.ok()) return std::move(spans).status().with_subject("messages");
  return entry.tokenizer->encode_spans(*spans, text::SpecialAdding::kOff);
}

Result<std::vector<int32_t>> encode(const ModelEntry& entry, const TextPrompt& prompt) {
  const auto adding = prompt.add_special_tokens ? text::SpecialAdding::kOn : text::SpecialAdding::kOff;
  return entry.tokenizer->encode(prompt.text, adding, text::SpecialParsing::kOn);
}

Result<std::vector<int32_t>> encode(const ModelEntry&, const TokenPrompt& prompt) { return prompt.ids; }

}  // namespace

Result<std::vector<int32_t>> encode_prompt(const ModelEntry& entry, const GenerationRequest& request, int32_t vocab) {
  const std::string field = std::holds_alternative<ChatPrompt>(request.prompt) ? "messages" : "prompt";
  Result<std::vector<int32_t>> encoded = std::visit([&](const auto& prompt) { return encode(entry, prompt); }, request.prompt);
  if (!encoded.ok()) {
    Status status = std::move(encoded).status();
    return status.subject().empty() ? std::move(status).with_subject(field) : std::move(status);
  }
  std::vector<int32_t> ids = std::move(*encoded);
  if (ids.empty()) {
    if (!entry.tokenizer->spec().bos)
      return base::invalid_argument("the prompt is empty, and the model has no token to begin with").with_subject(field);
    ids.push_back(*entry.tokenizer->spec().bos);
  }
  for (const int32_t id : ids) {
    if (id >= 0 && id < vocab) continue;
    return base::invalid_argument(format("the prompt has token id {}, the vocabulary has {}", id, vocab)).with_subject(field);
  }
  return ids;
}

}  // namespace camshaft::generation
