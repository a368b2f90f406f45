// Every field of the table against wrong types and edge values; what is not supported; fields against each other.
#include "server/openai/params.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "server/errors.h"
#include "server/test_support.h"

namespace camshaft::server {
namespace {

class ParamsTest : public testing::Test {
 protected:
  Result<Call> decode_json(ApiRoute route, const Json& body) { return decode_call(route, body, context_); }
  Result<Call> decode(ApiRoute route, std::string_view text) {
    auto body = base::parse_json(text);
    EXPECT_TRUE(body.ok()) << text;
    return decode_json(route, *body);
  }
  // A body that is fine without the field under test.
  Json base_body(ApiRoute route) {
    Json body(base::JsonObject{});
    if (route == kChat) {
      body.set("messages", *base::parse_json(R"([{"role":"user","content":"x"}])"));
    } else {
      body.set("prompt", "x");
    }
    return body;
  }
  Result<Call> decode_with(ApiRoute route, std::string_view name, Json value) {
    Json body = base_body(route);
    body.set(std::string(name), std::move(value));
    return decode_json(route, body);
  }
  void expect_error(const Result<Call>& result, std::string_view field, std::string_view reason, std::string_view what) {
    ASSERT_FALSE(result.ok()) << what;
    EXPECT_EQ(result.status().subject(), field) << what << ": " << result.status().message();
    EXPECT_EQ(result.status().reason(), reason) << what << ": " << result.status().message();
    EXPECT_EQ(error_response(result.status()).status, 400) << what;
  }

  generation::ModelEntry entry_ = make_test_entry("m");
  const generation::ModelEntry* models_[1] = {&entry_};
  DecodeContext context_{models_, false, 77, {}};
};

constexpr ApiRoute kRoutes[] = {kChat, kCompletions, kGenerate};

std::vector<std::pair<uint8_t, Json>> one_of_each_type() {
  return {{kBool, true},
          {kInteger, 1},
          {kNumber, 1.5},
          {kString, "x"},
          {kArray, base::JsonArray{Json(1)}},
          {kObject, *base::parse_json(R"({"k":1})")}};
}

TEST_F(ParamsTest, WrongTypesAreRefusedByName) {
  int cases = 0;
  for (const ApiRoute route : kRoutes) {
    for (const Field& field : request_fields()) {
      if ((field.routes & route) == 0) continue;
      for (const auto& [type, value] : one_of_each_type()) {
        const bool fits = (field.types & type) != 0 || (type == kInteger && (field.types & kNumber) != 0);
        if (fits) continue;
        ++cases;
        expect_error(decode_with(route, field.name, value), field.name, kInvalidValue, format("{} = {}", field.name, value.dump()));
      }
    }
  }
  EXPECT_GT(cases, 400);
}

TEST_F(ParamsTest, NullCountsAsAbsent) {
  for (const ApiRoute route : kRoutes) {
    for (const Field& field : request_fields()) {
      if ((field.routes & route) == 0) continue;
      const auto result = decode_with(route, field.name, nullptr);
      if (field.name == "messages" || (field.name == "prompt")) {
        expect_error(result, field.name, kInvalidValue, field.name);
      } else {
        EXPECT_TRUE(result.ok()) << field.name << ": " << result.status().message();
      }
    }
  }
}

bool is_ranged(const Field& field) { return (field.types & (kInteger | kNumber)) != 0 && std::isfinite(field.range.min); }

TEST_F(ParamsTest, RangesHoldAtTheirEdges) {
  int fields = 0;
  for (const ApiRoute route : kRoutes) {
    for (const Field& field : request_fields()) {
      if ((field.routes & route) == 0 || !is_ranged(field)) continue;
      ++fields;
      const bool integer = (field.types & kNumber) == 0;
      const auto value = [&](double number) { return integer ? Json(static_cast<int64_t>(number)) : Json(number); };
      const double step = integer ? 1 : 1e-6;
      const bool wide = std::abs(field.range.min) > 1e18;
      const auto at_min = decode_with(route, field.name, value(field.range.min));
      if (field.range.min_open) {
        expect_error(at_min, field.name, kInvalidValue, field.name);
      } else if (field.name != "min_tokens" && field.name != "top_logprobs") {
        EXPECT_TRUE(at_min.ok()) << field.name << ": " << at_min.status().message();
      }
      if (wide) continue;  // seed: the neighbours are no int64
      expect_error(decode_with(route, field.name, value(field.range.min - step)), field.name, kInvalidValue, field.name);
      expect_error(decode_with(route, field.name, value(field.range.max + step)), field.name, kInvalidValue, field.name);
      if (field.range.max > 2e9 && field.name == "min_tokens") continue;  // more than what is to be generated
      if (field.name == "top_logprobs") continue;                         // needs logprobs
      EXPECT_TRUE(decode_with(route, field.name, value(field.range.max)).ok()) << field.name;
    }
  }
  EXPECT_GT(fields, 20);
}

TEST_F(ParamsTest, OddNumbersAreRefused) {
  for (const ApiRoute route : kRoutes) {
    for (const Field& field : request_fields()) {
      if ((field.routes & route) == 0 || !is_ranged(field)) continue;
      for (const Json& value : {Json(uint64_t{18446744073709551615u}), Json(1e300), Json(-1e300)}) {
        expect_error(decode_with(route, field.name, value), field.name, kInvalidValue, format("{} = {}", field.name, value.dump()));
      }
    }
  }
}

struct Case {
  const char* member;  // "name":value
  const char* field;
  std::string_view reason;
};

// Values that ask for something, by type.
constexpr std::pair<uint8_t, std::string_view> kAsked[] = {{kBool, "true"},    {kInteger, "3"}, {kNumber, "3"},
                                                           {kString, "\"x\""}, {kArray, "[1]"}, {kObject, R"({"k":1})"}};

TEST_F(ParamsTest, UnsupportedFieldsAreNamed) {
  const auto check = [&](ApiRoute route, const Case& one) {
    const std::string start = route == kChat ? R"({"messages":[{"role":"user","content":"x"}],)" : R"({"prompt":"x",)";
    expect_error(decode(route, start + one.member + "}"), one.field, kUnsupportedParameter, one.member);
  };
  for (const Case& one : std::initializer_list<Case>{
           {R"("tools":[{"type":"function"}])", "tools", ""},
           {R"("tool_choice":"required")", "tool_choice", ""},
           {R"("tool_choice":{"type":"function"})", "tool_choice", ""},
           {R"("functions":[{}])", "functions", ""},
           {R"("function_call":{"name":"f"})", "function_call", ""},
           {R"("response_format":{"type":"json_object"})", "response_format", ""},
           {R"("n":2)", "n", ""},
           {R"("chat_template":"x")", "chat_template", ""},
           {R"("documents":[{}])", "documents", ""},
           {R"("add_special_tokens":true)", "add_special_tokens", ""},
           {R"("modalities":["text","audio"])", "modalities", ""},
           {R"("echo":true)", "echo", ""},
           {R"("suffix":"x")", "suffix", ""},
           {R"("prompt":"x")", "prompt", ""},
           {R"("max_new_tokens":3)", "max_new_tokens", ""},
           {R"("streaming":true)", "streaming", ""},
           {R"("inputs":"x")", "inputs", ""},
       }) {
    check(kChat, one);
  }
  for (const Case& one : std::initializer_list<Case>{
           {R"("echo":true)", "echo", ""},
           {R"("suffix":"x")", "suffix", ""},
           {R"("best_of":2)", "best_of", ""},
           {R"("prompt_logprobs":0)", "prompt_logprobs", ""},
           {R"("structured_outputs":{})", "structured_outputs", ""},
           {R"("guided_json":{})", "guided_json", ""},
           {R"("guided_regex":"a")", "guided_regex", ""},
           {R"("guided_choice":["a"])", "guided_choice", ""},
           {R"("guided_grammar":"a")", "guided_grammar", ""},
           {R"("grammar":"root")", "grammar", ""},
           {R"("json_schema":{})", "json_schema", ""},
           {R"("truncate_prompt_tokens":5)", "truncate_prompt_tokens", ""},
           {R"("bad_words":["a"])", "bad_words", ""},
           {R"("allowed_token_ids":[1])", "allowed_token_ids", ""},
           {R"("typical_p":0.5)", "typical_p", ""},
           {R"("priority":1)", "priority", ""},
           {R"("messages":[{"role":"user","content":"x"}])", "messages", ""},
           {R"("tools":[{"type":"function"}])", "tools", ""},
           {R"("tool_choice":"required")", "tool_choice", ""},
           {R"("chat_template":"x")", "chat_template", ""},
           {R"("chat_template_kwargs":{"a":1})", "chat_template_kwargs", ""},
           {R"("continue_final_message":true)", "continue_final_message", ""},
           {R"("top_logprobs":2)", "top_logprobs", ""},
           {R"("streaming":true)", "streaming", ""},
       }) {
    check(kCompletions, one);
  }
  expect_error(decode(kGenerate, R"({"inputs":"x"})"), "inputs", kUnsupportedParameter, "TGI");
  expect_error(decode(kGenerate, R"({"text":"x","sampling_params":{}})"), "text", kUnsupportedParameter, "SGLang");
  expect_error(decode(kCompletions, R"({"prompt":["a","b"]})"), "prompt", kUnsupportedParameter, "prompts");
  expect_error(decode(kCompletions, R"({"prompt":[[1],[2]]})"), "prompt", kUnsupportedParameter, "prompts");
}

// The words of other dialects would change the answer there: none is passed over in silence.
TEST_F(ParamsTest, WordsOfOtherDialectsAreNotIgnored) {
  for (const ApiRoute route : kRoutes) {
    for (const char* name : {"repeat_penalty",
                             "n_predict",
                             "num_predict",
                             "max_output_tokens",
                             "input",
                             "instructions",
                             "system",
                             "stop_sequences",
                             "stop_words",
                             "thinking",
                             "think",
                             "reasoning",
                             "options",
                             "format",
                             "template",
                             "raw",
                             "return_full_text",
                             "top_n_tokens",
                             "decoder_input_details",
                             "beam_width",
                             "num_return_sequences",
                             "end_id",
                             "adapter_id",
                             "logprob_start_len",
                             "top_logprobs_num",
                             "previous_response_id",
                             "conversation",
                             "background",
                             "inputs",
                             "parameters",
                             "text",
                             "input_ids",
                             "sampling_params",
                             "text_input",
                             "return_logprob"}) {
      expect_error(decode_with(route, name, true), name, kUnsupportedParameter, name);
      EXPECT_TRUE(decode_with(route, name, false).ok()) << name;
    }
  }
}

// What one route knows, no other passes over in silence.
TEST_F(ParamsTest, FieldsOfOtherRoutesAreNotIgnored) {
  std::vector<std::string> unknown;
  context_.on_unknown_field = [&](std::string_view name) { unknown.emplace_back(name); };
  for (const ApiRoute route : kRoutes) {
    for (const Field& field : request_fields()) {
      if (find_field(field.name, route) != nullptr) continue;
      const auto value =
          std::find_if(std::begin(kAsked), std::end(kAsked), [&](const auto& asked) { return field.types & asked.first; });
      expect_error(decode_with(route, field.name, *base::parse_json(value->second)), field.name, kUnsupportedParameter, field.name);
      EXPECT_TRUE(decode_with(route, field.name, nullptr).ok()) << field.name;
    }
  }
  EXPECT_TRUE(unknown.empty()) << unknown.front();
}

TEST_F(ParamsTest, ContradictionsNameBothValues) {
  const auto message = [&](ApiRoute route, std::string_view members, std::string_view field) {
    const auto result = decode(route, std::string(R"({"prompt":"x",)") + std::string(members) + "}");
    expect_error(result, field, kInvalidValue, members);
    return result.ok() ? std::string() : result.status().message();
  };
  for (const char* members : {R"("stream":true,"streaming":false)", R"("streaming":false,"stream":true)"}) {
    EXPECT_EQ(message(kGenerate, members, "streaming"), "streaming: is false and stream is true; send one of them");
  }
  for (const char* members : {R"("max_new_tokens":1,"max_tokens":2)", R"("max_tokens":2,"max_new_tokens":1)"}) {
    EXPECT_EQ(message(kGenerate, members, "max_new_tokens"), "max_new_tokens: is 1 and max_tokens is 2; send one of them");
  }
  EXPECT_EQ(message(kCompletions, R"("max_completion_tokens":1,"max_tokens":2)", "max_completion_tokens"),
            "max_completion_tokens: is 1 and max_tokens is 2; send one of them");
  const auto same = decode(kGenerate, R"({"prompt":"x","stream":true,"streaming":true,"max_new_tokens":2,"max_tokens":2})");
  ASSERT_TRUE(same.ok()) << same.status().message();
  EXPECT_TRUE(same->stream);
  EXPECT_EQ(same->request.max_tokens, 2);
  EXPECT_EQ(decode(kCompletions, R"({"prompt":"x","max_completion_tokens":3,"max_tokens":3})")->request.max_tokens, 3);
}

TEST_F(ParamsTest, NumbersOutOfRangeAreShownAsTheyCame) {
  const auto message = [&](std::string_view member) {
    return decode(kCompletions, std::string(R"({"prompt":"x",)") + std::string(member) + "}").status().message();
  };
  EXPECT_EQ(message(R"("seed":9223372036854775808)"),
            "seed: is 9223372036854775808, must be at least -9223372036854775808 and at most 9223372036854775807");
  EXPECT_EQ(message(R"("max_tokens":2147483648)"), "max_tokens: is 2147483648, must be at least 1 and at most 2147483647");
  EXPECT_EQ(message(R"("temperature":2.5)"), "temperature: is 2.5, must be at least 0 and at most 2");
  EXPECT_EQ(message(R"("top_p":1e-300)"), "top_p: is 1e-300, must be over 0 and at most 1; as a 32-bit float it is 0");
  EXPECT_EQ(message(R"("seed":1.5)"), "seed: expected an integer, found 1.5");
}

TEST_F(ParamsTest, NeutralValuesPass) {
  EXPECT_TRUE(
      decode(kChat, R"({"messages":[{"role":"user","content":"x"}],"echo":false,"suffix":"","prompt":"","streaming":false})").ok());
  EXPECT_TRUE(decode(kCompletions, R"({"prompt":"x","tool_choice":"auto","tools":[],"top_logprobs":0,"verbosity":"low"})").ok());
  EXPECT_TRUE(decode(kChat, R"({"messages":[{"role":"user","content":"x"}],"tools":[],"tool_choice":"none","functions":[],"n":1,
    "response_format":{"type":"text"},"documents":[],"typical_p":1,"bad_words":[],"modalities":["text"],"store":true,"metadata":{},
    "service_tier":"auto","user":"u","reasoning_effort":"low","parallel_tool_calls":true,"stop":null,"priority":0})")
                  .ok());
  EXPECT_TRUE(
      decode(kCompletions, R"({"prompt":"x","echo":false,"suffix":"","best_of":1,"n":1,"use_beam_search":false,"stop":[]})").ok());
}

TEST_F(ParamsTest, Defaults) {
  const auto completion = decode(kCompletions, R"({"prompt":"x"})");
  EXPECT_EQ(completion->request.default_max_tokens, 16);
  EXPECT_EQ(completion->request.sampling.temperature, 1.0f);
  EXPECT_EQ(completion->request.sampling.seed, 77u);
  EXPECT_EQ(completion->request.sampling.logprobs, -1);
  EXPECT_EQ(decode_json(kChat, base_body(kChat))->request.max_tokens, std::nullopt);
  const auto generate = decode(kGenerate, R"({"prompt":"x"})");
  EXPECT_EQ(generate->request.default_max_tokens, 512);
  EXPECT_EQ(generate->request.sampling.temperature, 0.9f);
  EXPECT_EQ(generate->request.sampling.top_p, 0.95f);
  EXPECT_FALSE(generate->stream);
}

TEST_F(ParamsTest, ModelDefaultsStandWhereTheRequestIsSilent) {
  entry_.prompt.temperature = 0.5;
  entry_.prompt.top_k = 40;
  EXPECT_EQ(decode_json(kChat, base_body(kChat))->request.sampling.temperature, 0.5f);
  EXPECT_EQ(decode_with(kChat, "temperature", 0)->request.sampling.temperature, 0.0f);
  EXPECT_EQ(decode_with(kChat, "temperature", 0)->request.sampling.top_k, 40);
  EXPECT_EQ(decode_with(kChat, "top_k", -1)->request.sampling.top_k, 0);
  EXPECT_EQ(decode_json(kGenerate, base_body(kGenerate))->request.sampling.temperature, 0.9f);
}

TEST_F(ParamsTest, ValuesArrive) {
  const auto call =
      decode(kCompletions, R"({"model":"m","prompt":[1,2],"max_tokens":7,"min_tokens":3,"temperature":0.25,"top_p":0.5,
    "top_k":9,"min_p":0.125,"repetition_penalty":1.5,"presence_penalty":-1,"frequency_penalty":2,"logit_bias":{"5":-100,"6":1.5},
    "seed":-1,"stop":["a","b"],"stop_token_ids":[3],"ignore_eos":true,"include_stop_str_in_output":true,"skip_special_tokens":false,
    "stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true},"logprobs":4,"return_token_ids":true,
    "return_tokens_as_token_ids":true})");
  ASSERT_TRUE(call.ok()) << call.status().message();
  const generation::GenerationRequest& request = call->request;
  EXPECT_EQ(std::get<generation::TokenPrompt>(request.prompt).ids, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(request.max_tokens, 7);
  EXPECT_EQ(request.min_tokens, 3);
  EXPECT_EQ(request.sampling.temperature, 0.25f);
  EXPECT_EQ(request.sampling.top_p, 0.5f);
  EXPECT_EQ(request.sampling.top_k, 9);
  EXPECT_EQ(request.sampling.min_p, 0.125f);
  EXPECT_EQ(request.sampling.repetition_penalty, 1.5f);
  EXPECT_EQ(request.sampling.presence_penalty, -1.0f);
  EXPECT_EQ(request.sampling.frequency_penalty, 2.0f);
  EXPECT_EQ(request.sampling.logit_bias, (std::vector<std::pair<int32_t, float>>{{5, -100.0f}, {6, 1.5f}}));
  EXPECT_EQ(request.sampling.seed, ~uint64_t{0});
  EXPECT_EQ(request.sampling.logprobs, 4);
  EXPECT_EQ(request.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(request.stop_token_ids, std::vector<int32_t>{3});
  EXPECT_TRUE(request.ignore_eos && request.include_stop_in_output && !request.skip_special_tokens);
  EXPECT_TRUE(call->stream && call->include_usage && call->continuous_usage && call->return_token_ids && call->tokens_as_ids);
}

TEST_F(ParamsTest, PromptForms) {
  for (const char* text : {R"({"prompt":"ab"})", R"({"prompt":["ab"]})"}) {
    EXPECT_EQ(std::get<generation::TextPrompt>(decode(kCompletions, text)->request.prompt).text, "ab");
  }
  EXPECT_EQ(std::get<generation::TokenPrompt>(decode(kCompletions, R"({"prompt":[[4]]})")->request.prompt).ids,
            std::vector<int32_t>{4});
  EXPECT_FALSE(
      std::get<generation::TextPrompt>(decode(kCompletions, R"({"prompt":"a","add_special_tokens":false})")->request.prompt)
          .add_special_tokens);
  for (const char* text :
       {R"({"prompt":[]})", R"({"prompt":[[]]})", R"({"prompt":[1,"a"]})", R"({"prompt":[1.5]})", R"({"prompt":[-1]})",
        R"({"prompt":[4294967296]})", R"({"prompt":[null]})", R"({"prompt":[{}]})", R"({})"}) {
    expect_error(decode(kCompletions, text), "prompt", kInvalidValue, text);
  }
}

TEST_F(ParamsTest, Messages) {
  const auto call = decode(kChat, R"({"messages":[{"role":"developer","content":"d"},
    {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"name":"n","other":1}]})");
  ASSERT_TRUE(call.ok()) << call.status().message();
  EXPECT_EQ(std::get<generation::ChatPrompt>(call->request.prompt).messages.dump(),
            R"([{"role":"system","content":"d"},{"role":"user","content":"a\nb","name":"n"}])");
  struct Bad {
    const char* messages;
    const char* field;
    std::string_view reason;
  };
  for (const Bad& bad : std::initializer_list<Bad>{
           {"[]", "messages", kInvalidValue},
           {"[1]", "messages.0", kInvalidValue},
           {R"([{"content":"x"}])", "messages.0.role", kInvalidValue},
           {R"([{"role":1,"content":"x"}])", "messages.0.role", kInvalidValue},
           {R"([{"role":"robot","content":"x"}])", "messages.0.role", kInvalidValue},
           {R"([{"role":"tool","content":"x"}])", "messages.0.role", kUnsupportedParameter},
           {R"([{"role":"user"}])", "messages.0.content", kInvalidValue},
           {R"([{"role":"user","content":null}])", "messages.0.content", kInvalidValue},
           {R"([{"role":"user","content":5}])", "messages.0.content", kInvalidValue},
           {R"([{"role":"user","content":[]}])", "messages.0.content", kInvalidValue},
           {R"([{"role":"user","content":["x"]}])", "messages.0.content.0", kInvalidValue},
           {R"([{"role":"user","content":[{"type":"text"}]}])", "messages.0.content.0.text", kInvalidValue},
           {R"([{"role":"user","content":[{"type":"image_url"}]}])", "messages.0.content.0.type", kUnsupportedParameter},
           {R"([{"role":"user","content":"x"},{"role":"assistant","content":"","tool_calls":[{}]}])", "messages.1.tool_calls",
            kUnsupportedParameter},
           {R"([{"role":"user","content":"x","name":1}])", "messages.0.name", kInvalidValue},
       }) {
    expect_error(decode(kChat, std::string(R"({"messages":)") + bad.messages + "}"), bad.field, bad.reason, bad.messages);
  }
}

TEST_F(ParamsTest, ListsHaveLimits) {
  const auto stops = [](size_t count, size_t bytes) { return Json(base::JsonArray(count, Json(std::string(bytes, 'a')))); };
  EXPECT_TRUE(decode_with(kChat, "stop", stops(16, 1024)).ok());
  expect_error(decode_with(kChat, "stop", stops(17, 1)), "stop", kInvalidValue, "17 stops");
  expect_error(decode_with(kChat, "stop", stops(1, 1025)), "stop", kInvalidValue, "a long stop");
  expect_error(decode_with(kChat, "stop", stops(1, 0)), "stop", kInvalidValue, "an empty stop");
  const auto messages = [](size_t count) {
    return Json(base::JsonArray(count, *base::parse_json(R"({"role":"user","content":"x"})")));
  };
  EXPECT_TRUE(decode_with(kChat, "messages", messages(2048)).ok());
  expect_error(decode_with(kChat, "messages", messages(2049)), "messages", kInvalidValue, "2049 messages");
  const auto biases = [](int count) {
    Json object(base::JsonObject{});
    for (int i = 0; i < count; ++i) object.as_object().emplace_back(std::to_string(i % 267), Json(1));
    return object;
  };
  EXPECT_TRUE(decode_with(kChat, "logit_bias", biases(1024)).ok());
  expect_error(decode_with(kChat, "logit_bias", biases(1025)), "logit_bias", kInvalidValue, "1025 biases");
}

TEST_F(ParamsTest, TokenIdsAreCheckedAgainstTheVocabulary) {
  EXPECT_TRUE(decode(kCompletions, R"({"prompt":"x","stop_token_ids":[266],"logit_bias":{"266":1}})").ok());
  expect_error(decode(kCompletions, R"({"prompt":"x","stop_token_ids":[267]})"), "stop_token_ids", kInvalidValue, "267");
  expect_error(decode(kCompletions, R"({"prompt":"x","stop_token_ids":[-1]})"), "stop_token_ids", kInvalidValue, "-1");
  expect_error(decode(kCompletions, R"({"prompt":"x","stop_token_ids":["1"]})"), "stop_token_ids", kInvalidValue, "text");
  for (const char* key : {"267", "-1", "+1", "1.5", "x", "", "99999999999", "01", "00", "-0", " 1"}) {
    expect_error(decode(kCompletions, std::string(R"({"prompt":"x","logit_bias":{")") + key + R"(":1}})"), "logit_bias",
                 kInvalidValue, key);
  }
  for (const char* bias : {"101", "-101", "\"1\"", "null", "[]"}) {
    expect_error(decode(kCompletions, std::string(R"({"prompt":"x","logit_bias":{"1":)") + bias + "}}"), "logit_bias",
                 kInvalidValue, bias);
  }
}

TEST_F(ParamsTest, FieldsTogether) {
  const std::string chat = R"({"messages":[{"role":"user","content":"x"}],)";
  expect_error(decode(kChat, chat + R"("stream_options":{}})"), "stream_options", kInvalidValue, "no stream");
  expect_error(decode(kChat, chat + R"("stream":true,"stream_options":{"include_usage":1}})"), "stream_options.include_usage",
               kInvalidValue, "type");
  expect_error(decode(kChat, chat + R"("top_logprobs":2})"), "top_logprobs", kInvalidValue, "no logprobs");
  EXPECT_EQ(decode(kChat, chat + R"("logprobs":true,"top_logprobs":2})")->request.sampling.logprobs, 2);
  EXPECT_EQ(decode(kChat, chat + R"("logprobs":true})")->request.sampling.logprobs, 0);
  expect_error(decode(kChat, chat + R"("max_tokens":2,"min_tokens":3})"), "min_tokens", kInvalidValue, "min over max");
  EXPECT_EQ(decode(kChat, chat + R"("max_completion_tokens":5,"max_tokens":9})")->request.max_tokens, 5);
  EXPECT_EQ(decode(kChat, chat + R"("max_tokens":9,"max_completion_tokens":5})")->request.max_tokens, 5);
  const auto continued = decode(kChat, chat + R"("continue_final_message":true})");
  EXPECT_FALSE(std::get<generation::ChatPrompt>(continued->request.prompt).add_generation_prompt);
  expect_error(decode(kChat, chat + R"("continue_final_message":true,"add_generation_prompt":true})"), "continue_final_message",
               kInvalidValue, "both");
  expect_error(decode(kChat, chat + R"("chat_template_kwargs":{"bos_token":"x"}})"), "chat_template_kwargs", kInvalidValue,
               "reserved");
  EXPECT_TRUE(decode(kChat, chat + R"("chat_template_kwargs":{"enable_thinking":false}})").ok());
}

TEST_F(ParamsTest, UnknownFieldsAndModels) {
  std::vector<std::string> unknown;
  context_.on_unknown_field = [&](std::string_view name) { unknown.emplace_back(name); };
  EXPECT_TRUE(decode(kCompletions, R"({"prompt":"x","wombat":1,"quokka":2})").ok());
  EXPECT_EQ(unknown, (std::vector<std::string>{"wombat", "quokka"}));
  context_.strict = true;
  expect_error(decode(kCompletions, R"({"prompt":"x","wombat":1})"), "wombat", kInvalidValue, "strict");
  const std::string half(63, 'a');  // a name is cut at 64 bytes, and never within a character
  expect_error(decode(kCompletions, "{\"prompt\":\"x\",\"" + half + "\u00E9\":1}"), half, kInvalidValue, "long");
  const auto missing = decode(kCompletions, R"({"prompt":"x","model":"other"})");
  EXPECT_EQ(error_response(missing.status()).status, 404);
  EXPECT_EQ(missing.status().reason(), kModelNotFound);
  expect_error(decode(kCompletions, R"({"prompt":"x","model":1})"), "model", kInvalidValue, "type");
  for (const char* text : {"1", "[]", "null", "\"x\""}) EXPECT_FALSE(decode(kCompletions, text).ok()) << text;
}

}  // namespace
}  // namespace camshaft::server
