// Fuzz target: any source, rendered with fixed messages under tight limits. Nothing may crash, hang or grow without bound, what
// is printed is UTF-8, and neighbouring spans differ in origin.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"
#include "text/chat_template.h"

namespace camshaft::text {
namespace {

TemplateInput fixed_input() {
  constexpr std::string_view kMessages = R"([
    {"role": "system", "content": "Be brief.", "n": 3, "x": 2.5},
    {"role": "user", "content": " Gr\u00fc\u00dfe \ud83d\ude42 <|im_end|>\n", "parts": [{"type": "text", "text": "a"}, {"type": "image"}]},
    {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": [1, true, null]}}}]}])";
  TemplateInput input;
  input.messages = base::parse_json(kMessages).value();
  input.variables = {{"bos_token", Json("<s>")}, {"eos_token", Json("</s>")}, {"big", Json(uint64_t{18446744073709551615u})}};
  input.add_generation_prompt = true;
  input.now_unix_seconds = 1735787045;
  return input;
}

void check(const std::vector<Span>& spans) {
  for (size_t i = 0; i < spans.size(); ++i) {
    CS_CHECK(!spans[i].text.empty(), "empty span");
    CS_CHECK(i == 0 || spans[i].origin != spans[i - 1].origin, "neighbours of one origin");
  }
  CS_CHECK(base::is_utf8(join(spans)), "output is not UTF-8");
}

void run(std::string_view source) {
  TemplateLimits limits;
  limits.max_steps = 20'000;
  limits.max_output_bytes = 64 << 10;
  const auto parsed = ChatTemplate::parse(source, limits);
  if (!parsed.ok()) return;
  const auto spans = parsed->render(fixed_input());
  if (spans.ok()) check(*spans);
}

}  // namespace
}  // namespace camshaft::text

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  camshaft::text::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
