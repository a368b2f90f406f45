// ChatTemplate: a parsed Jinja chat template (the subset that published templates use, with the semantics of transformers'
// sandbox: trim_blocks, lstrip_blocks, loop controls, raise_exception, strftime_now, tojson without ASCII escaping).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/status.h"
#include "text/tokenizer.h"

namespace camshaft::text {

// Limits of hardening.md section 2; each is an error that names the limit.
struct TemplateLimits {
  uint64_t max_source_bytes = 256 << 10;
  uint32_t max_depth = 64;
  uint64_t max_steps = 1'000'000;
  uint64_t max_range = 100'000;
  uint64_t max_output_bytes = 4 << 20;
};

struct TemplateInput {
  Json messages;   // array of objects
  Json tools;      // array, or null for none (then `tools` is defined and none)
  Json documents;  // array, or null
  bool add_generation_prompt = false;
  // Renders with a marker behind the last message's content and cuts there; excludes add_generation_prompt.
  bool continue_final_message = false;
  base::JsonObject variables;    // bos_token, eos_token, other special tokens, chat_template_kwargs
  int64_t now_unix_seconds = 0;  // what strftime_now formats, as UTC
};

class ChatTemplate {
 public:
  // Errors carry "line L, column C".
  static Result<ChatTemplate> parse(std::string_view source, const TemplateLimits& limits = {});

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // Neighbouring spans differ in origin; empty ones are left out. Text that stems from messages, tools, documents or kwargs is
  // kContent, also after filters and concatenation; literals of the template and bos_token/eos_token variables are kTemplate.
  // raise_exception gives invalid_argument with its message, reason "template_error".
  Result<std::vector<Span>> render(const TemplateInput& input) const;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The spans' text joined.
std::string join(const std::vector<Span>& spans);

}  // namespace camshaft::text
