// ChatTemplate: snippets against Jinja's own output, origins of text, errors with their place, limits.
#include "text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "text/jinja/snippets_for_test.h"

namespace camshaft::text {
namespace {

using testing::HasSubstr;
constexpr Span::Origin kTemplate = Span::Origin::kTemplate;
constexpr Span::Origin kContent = Span::Origin::kContent;

TemplateInput input() {
  TemplateInput input;
  input.messages = base::parse_json(R"([{"role": "user", "content": "Hi é"}, {"role": "assistant", "content": "yo"}])").value();
  input.variables = {{"bos_token", Json("<s>")}};
  input.now_unix_seconds = 1735787045;  // 2025-01-02T03:04:05Z
  return input;
}

Result<std::vector<Span>> render(std::string_view source, const TemplateInput& in = input(), const TemplateLimits& limits = {}) {
  CS_ASSIGN_OR_RETURN(ChatTemplate parsed, ChatTemplate::parse(source, limits));
  return parsed.render(in);
}

std::string text_of(std::string_view source, const TemplateInput& in = input()) {
  const auto spans = render(source, in);
  return spans.ok() ? join(*spans) : spans.status().to_string();
}

std::string error_of(std::string_view source, const TemplateInput& in = input(), const TemplateLimits& limits = {}) {
  const auto spans = render(source, in, limits);
  return spans.ok() ? "no error, but: " + join(*spans) : spans.status().to_string();
}

TEST(ChatTemplate, PrintsWhatJinjaPrints) {
  for (const Snippet& snippet : kSnippets) EXPECT_EQ(text_of(snippet.source), snippet.expected) << snippet.source;
}

TEST(ChatTemplate, FailsWhereJinjaFails) {
  for (std::string_view source : kFailingSnippets) EXPECT_FALSE(render(source).ok()) << source;
}

TEST(ChatTemplate, LineEndsOfAllKindsAreOne) {
  EXPECT_EQ(text_of("a\r\nb\rc\n\n"), "a\nb\nc\n");
  EXPECT_EQ(text_of("{% if true %}\r\nx\r\n{% endif %}\r\n"), "x\n");
}

TEST(ChatTemplate, TextKnowsItsOrigin) {
  const std::vector<Span> expected = {
      {kTemplate, "<s><|im_start|>"}, {kContent, "user"}, {kTemplate, "\n"}, {kContent, "Hi é"}, {kTemplate, "<|im_end|>"}};
  const auto spans =
      render("{{ bos_token }}{% set m = messages[0] %}{{ '<|im_start|>' + m.role + '\n' ~ m['content'] + '<|im_end|>' }}");
  ASSERT_TRUE(spans.ok());
  EXPECT_EQ(*spans, expected);
}

struct OriginCase {
  std::string_view source;
  std::vector<Span> expected;
};

TEST(ChatTemplate, OriginSurvivesOperations) {
  const OriginCase kCases[] = {
      {"{% set x = 'A' ~ messages[0].content %}{{ x[0:3] }}", {{kTemplate, "A"}, {kContent, "Hi"}}},
      {"{{ ('A' ~ messages[0].content)[::-1] }}", {{kContent, "é iH"}, {kTemplate, "A"}}},
      {"{{ ('a' ~ messages[0].content)|upper }}", {{kTemplate, "A"}, {kContent, "HI É"}}},
      {"{{ messages[0].content|replace(' ', '<x>') }}", {{kContent, "Hi"}, {kTemplate, "<x>"}, {kContent, "é"}}},
      {"{{ messages|map(attribute='content')|join(' + ') }}", {{kContent, "Hi é"}, {kTemplate, " + "}, {kContent, "yo"}}},
      {"{{ '<%s>' % messages[1].content }}", {{kTemplate, "<"}, {kContent, "yo"}, {kTemplate, ">"}}},
      {"{{ '<{}>'.format(messages[1].content) }}", {{kTemplate, "<"}, {kContent, "yo"}, {kTemplate, ">"}}},
      {"{{ messages[0].content.split(' ')[1] }}", {{kContent, "é"}}},
      {"{{ (' ' ~ messages[1].content ~ '\n')|trim }}", {{kContent, "yo"}}},
      {"{{ {'a': messages[1].content}|tojson }}", {{kContent, "{\"a\": \"yo\"}"}}},
      {"{{ {'a': 1}|tojson }}", {{kTemplate, "{\"a\": 1}"}}},
      {"{{ messages[1] }}", {{kContent, "{'role': 'assistant', 'content': 'yo'}"}}},
      {"{% set b %}<{{ messages[1].content }}>{% endset %}{{ b * 2 }}",
       {{kTemplate, "<"}, {kContent, "yo"}, {kTemplate, "><"}, {kContent, "yo"}, {kTemplate, ">"}}},
      {"{% macro m(x) %}[{{ x }}]{% endmacro %}{{ m(messages[1].content) }}",
       {{kTemplate, "["}, {kContent, "yo"}, {kTemplate, "]"}}},
      {"{{ strftime_now('%Y') }}", {{kTemplate, "2025"}}},
      {"{{ '<b>' + (messages[1].content|e) }}", {{kTemplate, "&lt;b&gt;"}, {kContent, "yo"}}},
  };
  for (const OriginCase& each : kCases) {
    const auto spans = render(each.source);
    ASSERT_TRUE(spans.ok()) << each.source << ": " << spans.status().to_string();
    EXPECT_EQ(*spans, each.expected) << each.source;
  }
}

TEST(ChatTemplate, OnlyVariablesCalledTokenAreTemplate) {
  TemplateInput in = input();
  in.variables.push_back({"mode", Json("</s>")});
  const std::vector<Span> expected = {{kTemplate, "<s>"}, {kContent, "</s>"}};
  EXPECT_EQ(render("{{ bos_token }}{{ mode }}", in).value(), expected);
}

TEST(ChatTemplate, ErrorsNameTheirPlace) {
  EXPECT_THAT(error_of("a\n  {% if %}"), HasSubstr("line 2, column 9"));
  EXPECT_THAT(error_of("a\n{{ 1 + messages }}"), HasSubstr("line 2, column 6"));
  EXPECT_THAT(error_of("{{ x.y }}"), HasSubstr("'x' is undefined"));
  EXPECT_THAT(error_of("{{ messages[0].a.b }}"), HasSubstr("'dict object' has no attribute 'a'"));
  EXPECT_THAT(error_of("{{ [].append(1) }}"), HasSubstr("must not change values"));
  EXPECT_THAT(error_of("{% include 'x' %}"), HasSubstr("'include' is not supported"));
  EXPECT_THAT(error_of("{{ x|shout }}"), HasSubstr("no filter named 'shout'"));
  EXPECT_THAT(error_of("{% if x %}\n\n{% for y in z %}"), HasSubstr("'endfor'"));
  EXPECT_THAT(error_of("{% break %}"), HasSubstr("inside a loop"));
  EXPECT_THAT(error_of("\xff"), HasSubstr("no valid UTF-8 at byte 0"));
}

TEST(ChatTemplate, RaisedMessagesComeAsTheyAre) {
  const auto spans = render("{{ raise_exception('No tools, please') }}");
  ASSERT_FALSE(spans.ok());
  EXPECT_EQ(spans.status().message(), "No tools, please");
  EXPECT_EQ(spans.status().reason(), "template_error");
  EXPECT_EQ(spans.status().code(), Code::kInvalidArgument);
}

TEST(ChatTemplate, ContinuesTheFinalMessage) {
  constexpr std::string_view kSource = "{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}";
  constexpr std::string_view kTrimming = "{% for m in messages %}[{{ m.role }}] {{ m.content|trim }}</s>{% endfor %}";
  TemplateInput in = input();
  in.continue_final_message = true;
  EXPECT_EQ(text_of(kSource, in), "[user]Hi é</s>[assistant]yo");
  in.messages.as_array().back().set("content", Json("yo  "));
  EXPECT_EQ(text_of(kSource, in), "[user]Hi é</s>[assistant]yo  ");
  EXPECT_EQ(text_of(kTrimming, in), "[user] Hi é</s>[assistant] yo");
  EXPECT_THAT(error_of("nothing", in), HasSubstr("does not print the last message"));
  in.add_generation_prompt = true;
  EXPECT_THAT(error_of(kSource, in), HasSubstr("exclude each other"));
}

TEST(ChatTemplate, IntegersAboveSixtyThreeBitsPassThrough) {
  TemplateInput in = input();
  in.variables.push_back({"n", Json(uint64_t{18446744073709551615u})});
  EXPECT_EQ(text_of("{{ n }}|{{ n|tojson }}|{{ n is number }}|{{ n > 5 }}", in),
            "18446744073709551615|18446744073709551615|True|True");
  EXPECT_THAT(error_of("{{ n + 1 }}", in), HasSubstr("64 bits"));
  EXPECT_THAT(error_of("{{ 9223372036854775807 + 1 }}"), HasSubstr("64 bits"));
}

TEST(ChatTemplate, OneTemplateServesManyThreads) {
  auto parsed = ChatTemplate::parse("{% for m in messages %}{{ 'é: '|upper ~ m.content[0:2] }}{% endfor %}{{ [1, 'x']|tojson }}");
  ASSERT_TRUE(parsed.ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) EXPECT_EQ(join(parsed->render(input()).value()), "É: HiÉ: yo[1, \"x\"]");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace camshaft::text
