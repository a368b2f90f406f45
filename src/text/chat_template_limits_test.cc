// Templates that want too much: each ends with an error that names the limit, soon, and on an ordinary stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "text/chat_template.h"

namespace camshaft::text {
namespace {

using testing::HasSubstr;

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TemplateInput input() {
  TemplateInput input;
  input.messages = base::parse_json(R"([{"role": "user", "content": "Hi"}])").value();
  return input;
}

std::string outcome(std::string_view source, const TemplateInput& in = input()) {
  const auto begin = std::chrono::steady_clock::now();
  auto parsed = ChatTemplate::parse(source);
  std::string text;
  if (parsed.ok()) {
    const auto spans = parsed->render(in);
    text = spans.ok() ? "ok " + join(*spans).substr(0, 100) : spans.status().to_string();
  } else {
    text = parsed.status().to_string();
  }
  // A second in a release; sanitizers and busy machines get more.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << source.substr(0, 100);
  return text;
}

TEST(ChatTemplateLimits, Source) {
  EXPECT_THAT(outcome(repeated("x", (256 << 10) + 1)), HasSubstr("limit of a template's source is 262144 bytes"));
  EXPECT_THAT(outcome(repeated("x", 256 << 10)), HasSubstr("ok xxx"));
  EXPECT_THAT(outcome(repeated("{{ (", 1 << 18)), HasSubstr("source"));
}

TEST(ChatTemplateLimits, ParseDepth) {
  const std::pair<const char*, const char*> kBrackets[] = {{"(", ")"},         {"[", "]"},    {"{1:", "}"},   {"not ", ""},
                                                           {"-", ""},          {"a[", "]"},   {"f(", ")"},    {"1 if 1 else ", ""},
                                                           {"x is in [", "]"}, {"x|f(", ")"}, {"a.b(c=", ")"}};
  for (const auto& [open, close] : kBrackets) {
    EXPECT_THAT(outcome("{{ " + repeated(open, 5000) + "1" + repeated(close, 5000) + " }}"), HasSubstr("limit of depth: 64"))
        << open;
  }
  for (const char* block :
       {"{% if 1 %}", "{% for x in y %}", "{% macro m() %}", "{% set x %}", "{% filter upper %}", "{% with %}"}) {
    EXPECT_THAT(outcome(repeated(block, 5000)), HasSubstr("limit of depth: 64")) << block;
  }
  EXPECT_THAT(outcome("{% for " + repeated("(", 5000) + "x" + repeated(")", 5000) + " in y %}"), HasSubstr("limit of depth: 64"));
}

TEST(ChatTemplateLimits, DepthJustBelowTheLimitWorks) {
  EXPECT_EQ(outcome("{{ " + repeated("(", 60) + "1" + repeated(")", 60) + " }}"), "ok 1");
  EXPECT_EQ(outcome(repeated("{% if 1 %}", 60) + "1" + repeated("{% endif %}", 60)), "ok 1");
}

TEST(ChatTemplateLimits, LongChainsAreNotDeep) {
  EXPECT_EQ(outcome("{{ 0" + repeated(" + 1", 20000) + " }}"), "ok 20000");
  EXPECT_EQ(outcome("{{ 'x'" + repeated("|trim", 20000) + " }}"), "ok x");
  EXPECT_EQ(outcome("{{ 'x'" + repeated(".strip()", 20000) + " }}"), "ok x");
  EXPECT_EQ(outcome("{{ 1" + repeated("|int is odd", 20000) + " }}"), "ok True");
  EXPECT_EQ(outcome("{{ 1" + repeated(" if 1", 20000) + " }}"), "ok 1");
  EXPECT_EQ(outcome("{{ ''" + repeated(" ~ 'x'", 20000) + " }}").substr(0, 5), "ok xx");
  EXPECT_EQ(outcome("{% if 0 %}" + repeated("{% elif 0 %}", 20000) + "{% else %}1{% endif %}"), "ok 1");
}

TEST(ChatTemplateLimits, Recursion) {
  EXPECT_THAT(outcome("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), HasSubstr("limit of depth of macro calls: 64"));
  EXPECT_THAT(outcome("{% macro f() %}{% for x in [1] %}{% if 1 %}{{ (((f()))) }}{% endif %}{% endfor %}{% endmacro %}{{ f() }}"),
              HasSubstr("limit of depth of"));
  EXPECT_THAT(outcome("{% for x in [1] recursive %}{{ loop([1]) }}{% endfor %}"), HasSubstr("limit of depth of macro calls: 64"));
  EXPECT_THAT(outcome("{% macro f() %}{{ caller() }}{% call f() %}{% endcall %}{% endmacro %}{% call f() %}{% endcall %}"),
              HasSubstr("limit of depth of macro calls"));
  EXPECT_THAT(outcome("{% macro f(x=f()) %}{% endmacro %}{{ f() }}"), HasSubstr("limit of depth of macro calls"));
}

// The most C++ stack a template can ask for: each call as deep as the parser lets it be.
TEST(ChatTemplateLimits, DeepestEvaluationFitsTheStack) {
  const std::string open = repeated("{% if 1 %}", 25) + "{{ " + repeated("[", 25);
  const std::string close = repeated("]", 25) + " }}" + repeated("{% endif %}", 25);
  EXPECT_THAT(outcome("{% macro f() %}" + open + "f()" + close + "{% endmacro %}{{ f() }}"),
              HasSubstr("limit of depth of evaluation: 512"));
}

TEST(ChatTemplateLimits, Steps) {
  constexpr std::string_view kSteps = "limit of steps: 1000000";
  EXPECT_THAT(outcome("{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}"), HasSubstr(kSteps));
  EXPECT_THAT(outcome("{% for a in range(100000) %}{% set x = 1" + repeated(" + 1", 1000) + " %}{% endfor %}"), HasSubstr(kSteps));
  EXPECT_THAT(outcome("{% set s = 'a' * 4000000 %}{% for a in range(100000) %}{% set x = 'b' in s %}{% endfor %}"),
              HasSubstr(kSteps));
  EXPECT_THAT(outcome("{% set s = 'a' * 4000000 %}{% for a in range(100000) %}{% set x = s == s ~ '' %}{% endfor %}"),
              HasSubstr(kSteps));
  EXPECT_THAT(outcome("{% set l = range(100000) %}{% for a in l %}{% set x = -1 in l %}{% endfor %}"), HasSubstr(kSteps));
  EXPECT_THAT(outcome("{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}"),
              HasSubstr(kSteps));
}

TEST(ChatTemplateLimits, Range) {
  EXPECT_THAT(outcome("{{ range(100001)|length }}"), HasSubstr("limit of range: 100000"));
  EXPECT_THAT(outcome("{{ range(-9223372036854775807, 9223372036854775807)|length }}"), HasSubstr("limit of range"));
  EXPECT_EQ(outcome("{{ range(100000)|length }}"), "ok 100000");
  EXPECT_EQ(outcome("{{ range(9223372036854775800, 9223372036854775807, 9223372036854775807)|length }}"), "ok 1");
}

TEST(ChatTemplateLimits, Memory) {
  const char* const kSources[] = {
      "{% set x = 'a' * 10**9 %}",
      "{% set x = [1] * 10**9 %}",
      "{% set x = 'a' * 10**18 %}",
      "{% set ns = namespace(x='aaaa') %}{% for i in range(1000) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(1000) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x|replace('b', ns.x) %}{% endfor %}",
      "{% set ns = namespace(x=[]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{% set y = ns.x|string %}",
      "{% set ns = namespace(x=[]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{% set y = ns.x|tojson %}",
      "{% set x = 'a'.center(10**12) %}",
      "{% set x = [1]|batch(10**12, 0)|list %}",
      "{% set x = [1]|slice(10**12)|list %}",
      "{% set x = 'a\nb'|indent(10**12) %}",
  };
  for (const char* source : kSources) {
    EXPECT_THAT(outcome(source), testing::AnyOf(HasSubstr("limit of memory"), HasSubstr("limit of steps"))) << source;
  }
}

TEST(ChatTemplateLimits, ValueDepth) {
  constexpr std::string_view kNest = "{% set ns = namespace(x=[]) %}{% for i in range(1000) %}{% set ns.x = ";
  EXPECT_THAT(outcome(std::string(kNest) + "[ns.x] %}{% endfor %}"), HasSubstr("limit of value depth: 128"));
  EXPECT_THAT(outcome(std::string(kNest) + "{'a': ns.x} %}{% endfor %}"), HasSubstr("limit of value depth: 128"));
  EXPECT_THAT(outcome("{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}"), HasSubstr("limit of value depth"));
  TemplateInput in = input();
  Json deep;
  for (int i = 0; i < 1000; ++i) deep = Json(base::JsonArray{std::move(deep)});
  in.tools = std::move(deep);
  EXPECT_THAT(outcome("{{ tools }}", in), HasSubstr("limit of value depth"));
}

TEST(ChatTemplateLimits, Output) {
  EXPECT_THAT(outcome("{% set x = 'a' * 1000000 %}{% for i in range(10) %}{{ x }}{% endfor %}"),
              HasSubstr("limit of output: 4194304"));
  EXPECT_THAT(outcome("{% set y %}{% for i in range(10) %}{{ 'a' * 1000000 }}{% endfor %}{% endset %}"),
              HasSubstr("limit of output"));
}

TEST(ChatTemplateLimits, FormatWidths) {
  EXPECT_THAT(outcome("{{ '%999999999999d' % 1 }}"), HasSubstr("limit of format width"));
  EXPECT_THAT(outcome("{{ '{:999999999}'.format(1) }}"), HasSubstr("limit of format width"));
  EXPECT_THAT(outcome("{{ '%.999999999f' % 1.5 }}"), HasSubstr("limit of format width"));
}

// A template that gathers its text piece by piece stays linear.
TEST(ChatTemplateLimits, LongConversationsPass) {
  TemplateInput in;
  base::JsonArray messages;
  for (int i = 0; i < 2048; ++i) {
    messages.push_back(
        Json(base::JsonObject{{"role", Json(i % 2 ? "assistant" : "user")}, {"content", Json(repeated("word ", 200))}}));
  }
  in.messages = Json(std::move(messages));
  constexpr std::string_view kSource =
      "{% set ns = namespace(text='', last=-1) %}{% for m in messages[::-1] %}{% set ns.last = loop.index0 %}{% endfor %}"
      "{% for m in messages %}{% if m.role == 'user' and not (m.content is none) %}{% set ns.text = ns.text ~ '<u>' ~ "
      "m.content|trim %}"
      "{% else %}{% set ns.text = ns.text + '<a>' + m.content.split('</think>')[-1].lstrip('\n') %}{% endif %}{% endfor %}{{ "
      "ns.text }}";
  EXPECT_EQ(outcome(kSource, in).substr(0, 10), "ok <u>word");
}

}  // namespace
}  // namespace camshaft::text
