// ChatTemplate's door: limits, variables, the continuation of a final message; failures of the interpreter become statuses.
#include "text/chat_template.h"

#include <algorithm>
#include <new>

#include "base/utf8.h"
#include "text/jinja/failure.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"
#include "text/jinja/unicode.h"

namespace camshaft::text {
namespace {

using jinja::Failure;
using jinja::Heap;
using jinja::Origin;
using jinja::Position;

// Values of one rendering: this, and eight times what its input weighs.
constexpr uint64_t kMemoryBytes = 64 << 20;
constexpr uint64_t kMemoryPerInputByte = 8;
constexpr uint64_t kJsonNodeBytes = 48;
// The blank behind it shows whether the template keeps a message's trailing space.
constexpr std::string_view kMarker = "CAMSHAFT_CONTINUES_HERE ";
constexpr std::string_view kReason = "template_error";

Status template_error(std::string message) { return base::invalid_argument(std::move(message)).with_reason(std::string(kReason)); }

Status status_of(const Failure& failure, Position last) {
  Status status = failure.status;
  if (status.reason() == kReason) return status;  // raise_exception: the template's own words
  const Position at = failure.position.line ? failure.position : last;
  const std::string place = at.line ? format("chat template, line {}, column {}", at.line, at.column) : "chat template";
  return std::move(status).with_context(place).with_reason(std::string(kReason));
}

uint64_t weight(const Json& json, uint32_t depth) {
  if (depth > jinja::kMaxValueDepth) jinja::fail_limit("value depth", jinja::kMaxValueDepth, "levels");
  uint64_t sum = kJsonNodeBytes;
  if (json.is_string()) sum += json.as_string().size();
  if (json.is_array()) {
    for (const Json& item : json.as_array()) sum += weight(item, depth + 1);
  }
  if (json.is_object()) {
    for (const auto& [key, item] : json.as_object()) sum += key.size() + weight(item, depth + 1);
  }
  return sum;
}

Json* find_member(Json& object, std::string_view name) {
  if (!object.is_object()) return nullptr;
  for (auto& [key, value] : object.as_object()) {
    if (key == name) return &value;
  }
  return nullptr;
}

// The text that the model is to continue: the last message's content, or the last text part of it.
Json* final_text(Json& messages) {
  if (!messages.is_array() || messages.as_array().empty()) return nullptr;
  Json* content = find_member(messages.as_array().back(), "content");
  if (content && content->is_array()) {
    base::JsonArray& parts = content->as_array();
    const auto part = std::find_if(parts.rbegin(), parts.rend(), [](const Json& each) { return each.find("text") != nullptr; });
    content = part == parts.rend() ? nullptr : find_member(*part, "text");
  }
  return content && content->is_string() ? content : nullptr;
}

std::string_view right_trimmed(std::string_view text) {
  while (!text.empty() && static_cast<uint8_t>(text.back()) < 0x80 && jinja::is_space(static_cast<uint8_t>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::string_view trimmed(std::string_view text) {
  text = right_trimmed(text);
  while (!text.empty() && static_cast<uint8_t>(text[0]) < 0x80 && jinja::is_space(static_cast<uint8_t>(text[0])))
    text.remove_prefix(1);
  return text;
}

void cut(std::vector<Span>& spans, size_t size) {
  for (size_t i = 0; i < spans.size(); ++i) {
    if (size < spans[i].text.size()) {
      spans[i].text.resize(size);
      spans.erase(spans.begin() + static_cast<std::ptrdiff_t>(i + (size > 0)), spans.end());
      return;
    }
    size -= spans[i].text.size();
  }
}

Result<std::vector<Span>> cut_at_marker(std::vector<Span> spans, std::string_view final_message) {
  const std::string text = join(spans);
  const std::string_view all = text;
  const size_t marker = all.rfind(right_trimmed(kMarker));
  if (marker == std::string_view::npos || all.find(trimmed(final_message)) == std::string_view::npos) {
    return template_error(
        "continue_final_message: the chat template does not print the last message as it is; leave the field out");
  }
  const bool keeps_space = all.substr(marker, kMarker.size()) == kMarker;
  cut(spans, keeps_space ? marker : right_trimmed(all.substr(0, marker)).size());
  return spans;
}

bool is_special_token(std::string_view variable) { return variable.ends_with("_token"); }

}  // namespace

struct ChatTemplate::Impl {
  jinja::Program program;
  TemplateLimits limits;

  Result<std::vector<Span>> render(const TemplateInput& input, const Json& messages) const;
};

ChatTemplate::ChatTemplate(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, const TemplateLimits& limits) {
  if (source.size() > limits.max_source_bytes) {
    return base::resource_exhausted(format("chat template has {} bytes, the limit of a template's source is {} bytes; shorten it",
                                           source.size(), limits.max_source_bytes));
  }
  if (const size_t flaw = base::utf8_valid_prefix(source); flaw != source.size()) {
    return base::invalid_argument(format("chat template is no valid UTF-8 at byte {}; save it as UTF-8", flaw));
  }
  auto impl = std::make_unique<Impl>();
  impl->limits = limits;
  try {
    jinja::Parser(impl->program, limits.max_depth).parse(source);
  } catch (const Failure& failure) {
    return status_of(failure, {});
  }
  return ChatTemplate(std::move(impl));
}

Result<std::vector<Span>> ChatTemplate::Impl::render(const TemplateInput& input, const Json& messages) const {
  Heap heap(limits.max_steps, kMemoryBytes);
  jinja::Interpreter interpreter(program, limits, heap, input.now_unix_seconds);
  const auto set = [&](std::string_view name, const Json& json, Origin origin) {
    if (!interpreter.wants(name)) return;
    heap.grow_limit(kMemoryPerInputByte * weight(json, 0));
    interpreter.set_global(name, jinja::from_json(heap, json, origin));
  };
  try {
    for (const auto& [name, json] : input.variables) set(name, json, is_special_token(name) ? Origin::kTemplate : Origin::kContent);
    set("messages", messages, Origin::kContent);
    set("tools", input.tools, Origin::kContent);
    set("documents", input.documents, Origin::kContent);
    set("add_generation_prompt", Json(input.add_generation_prompt), Origin::kContent);
    jinja::StrBuilder out(heap, limits.max_output_bytes);
    interpreter.run(out);
    return out.spans();
  } catch (const Failure& failure) {
    return status_of(failure, interpreter.position());
  } catch (const std::bad_alloc&) {
    return base::unavailable("not enough memory to render the chat template; try again later");
  }
}

Result<std::vector<Span>> ChatTemplate::render(const TemplateInput& input) const {
  if (!input.continue_final_message) return impl_->render(input, input.messages);
  if (input.add_generation_prompt) {
    return base::invalid_argument("continue_final_message and add_generation_prompt exclude each other; set one of them");
  }
  Json messages = input.messages;
  Json* text = final_text(messages);
  if (!text) return base::invalid_argument("continue_final_message: the last message has no text content to continue");
  const std::string final_message = text->as_string();
  *text = Json(final_message + std::string(kMarker));
  CS_ASSIGN_OR_RETURN(std::vector<Span> spans, impl_->render(input, messages));
  return cut_at_marker(std::move(spans), final_message);
}

std::string join(const std::vector<Span>& spans) {
  std::string text;
  for (const Span& span : spans) text += span.text;
  return text;
}

}  // namespace camshaft::text
