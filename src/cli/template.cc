// camshaft template MODEL-or-FILE.jinja --messages FILE.json: renders a conversation and prints the text.
#include <cstdio>
#include <ctime>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/vocabulary.h"
#include "text/chat_template.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  std::string messages;
};

CommandSpec spec(State& s) {
  CommandSpec out{"template", "Renders a conversation with a model's chat template and prints the text.", {}, {}};
  out.positionals.push_back({"MODEL", "A GGUF file, a folder, an engine, or a .jinja file.", true, &s.model});
  out.options = {{"messages", base::Text{"FILE.json"}, "",
                  "{messages, tools?, documents?, add_generation_prompt?, continue_final_message?, kwargs?, variables?, now?}.",
                  &s.messages}};
  return out;
}

struct Source {
  std::string text;
  base::JsonObject variables;
};

Result<Source> template_source(const std::string& model) {
  Source source;
  if (model.ends_with(".jinja")) {
    CS_ASSIGN_OR_RETURN(source.text, read_input_file("MODEL", model));
    return source;
  }
  CS_ASSIGN_OR_RETURN(const checkpoint::Vocabulary vocabulary, read_vocabulary(model));
  if (vocabulary.prompt.chat_template.empty()) return base::not_found(format("'{}' has no chat template", model));
  source.text = vocabulary.prompt.chat_template;
  source.variables = {{"bos_token", vocabulary.prompt.bos_token}, {"eos_token", vocabulary.prompt.eos_token}};
  return source;
}

Json member(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  return found == nullptr ? Json() : *found;
}

Result<bool> flag(const Json& json, std::string_view key) {
  const Json* found = json.find(key);
  if (found == nullptr || found->is_null()) return false;
  if (!found->is_bool())
    return base::invalid_argument(format("--messages: '{}' is a {}, expected a boolean", key, found->kind_name()));
  return found->as_bool();
}

Status add_variables(const Json& json, std::string_view key, base::JsonObject& out) {
  const Json* found = json.find(key);
  if (found == nullptr || found->is_null()) return base::ok_status();
  if (!found->is_object())
    return base::invalid_argument(format("--messages: '{}' is a {}, expected an object", key, found->kind_name()));
  Json all(std::move(out));
  for (const auto& [name, value] : found->as_object()) all.set(name, value);
  out = std::move(all.as_object());
  return base::ok_status();
}

Result<std::string> render(const State& s) {
  CS_ASSIGN_OR_RETURN(const std::string file, read_input_file("--messages", s.messages));
  CS_ASSIGN_OR_RETURN(const Json json, base::parse_json(file));
  CS_ASSIGN_OR_RETURN(Source source, template_source(s.model));
  CS_ASSIGN_OR_RETURN(const text::ChatTemplate chat_template, text::ChatTemplate::parse(source.text));
  text::TemplateInput input;
  input.messages = member(json, "messages");
  if (!input.messages.is_array()) {
    return base::invalid_argument(format("--messages: 'messages' is a {}, expected an array", input.messages.kind_name()));
  }
  input.tools = member(json, "tools");
  input.documents = member(json, "documents");
  CS_ASSIGN_OR_RETURN(input.add_generation_prompt, flag(json, "add_generation_prompt"));
  CS_ASSIGN_OR_RETURN(input.continue_final_message, flag(json, "continue_final_message"));
  input.variables = std::move(source.variables);
  CS_RETURN_IF_ERROR(add_variables(json, "variables", input.variables));
  CS_RETURN_IF_ERROR(add_variables(json, "kwargs", input.variables));
  const Json now = member(json, "now");
  input.now_unix_seconds = now.int_if() != nullptr ? *now.int_if() : std::time(nullptr);
  CS_ASSIGN_OR_RETURN(const auto spans, chat_template.render(input));
  return text::join(spans);
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("template", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  if (s.messages.empty()) {
    return report_failure("template", base::invalid_argument("--messages FILE.json is missing"), FailedThing::kUsage);
  }
  const auto text = render(s);
  if (!text.ok()) return report_failure("template", text.status(), FailedThing::kRequest);
  std::fwrite(text->data(), 1, text->size(), stdout);
  return 0;
}

}  // namespace

const Command& template_command() {
  static const Command command = {"template", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
