// Transcripts over loopback: answers field by field, streams event by event, errors. The executor is a script.
#include "server/server.h"

#include "base/json.h"
#include "server/routes.h"
#include "server/test_support.h"

namespace camshaft::server {
namespace {

constexpr const char* kChatBody = R"({"messages":[{"role":"user","content":"hi"}]})";
// "[user]hi\n[assistant]" in bytes, "hi" and all: 20 tokens.
constexpr int kChatPromptTokens = 20;

std::string usage(int prompt, int completion) {
  return "{\"prompt_tokens\":" + std::to_string(prompt) + ",\"completion_tokens\":" + std::to_string(completion) +
         ",\"total_tokens\":" + std::to_string(prompt + completion) +
         ",\"prompt_tokens_details\":{\"cached_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0}}";
}

std::string chunk(std::string_view object, std::string_view rest) {
  const std::string prefix = object == "text_completion" ? "cmpl-" : "chatcmpl-";
  return "data: {\"id\":\"" + prefix + "r1\",\"object\":\"" + std::string(object) +
         "\",\"created\":0,\"model\":\"org/tiny\",\"system_fingerprint\":\"fp\"," + std::string(rest) + "}\n\n";
}
std::string chat_chunk(std::string_view rest) { return chunk("chat.completion.chunk", rest); }
std::string text_chunk(std::string_view rest) { return chunk("text_completion", rest); }

// --- answers --------------------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, ChatWhole) {
  const Answer answer = ask(post("/v1/chat/completions", kChatBody));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Content-Type"), "application/json");
  EXPECT_EQ(answer.header("X-Request-Id"), "r1");
  EXPECT_EQ(steady(answer.body),
            R"({"id":"chatcmpl-r1","object":"chat.completion","created":0,"model":"org/tiny","system_fingerprint":"fp",)"
            R"("choices":[{"index":0,"message":{"role":"assistant","content":"Hi!","refusal":null},"logprobs":null,)"
            R"("finish_reason":"stop","stop_reason":null}],"usage":)" +
                usage(kChatPromptTokens, 4) + "}");
}

TEST_F(ServerTest, ChatStream) {
  const Answer answer =
      ask(post("/v1/chat/completions",
               R"({"messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("Content-Type"), "text/event-stream; charset=utf-8");
  EXPECT_EQ(answer.header("Cache-Control"), "no-cache");
  EXPECT_EQ(answer.header("X-Accel-Buffering"), "no");
  const auto delta = [](std::string_view text) {
    return chat_chunk("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(text) +
                      "\"},\"logprobs\":null,\"finish_reason\":null}],\"usage\":null");
  };
  EXPECT_EQ(
      steady(answer.body),
      chat_chunk(
          R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],"usage":null)") +
          delta("H") + delta("i") + delta("!") +
          chat_chunk(
              R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop","stop_reason":null}],"usage":null)") +
          chat_chunk("\"choices\":[],\"usage\":" + usage(kChatPromptTokens, 4)) + kDone);
}

TEST_F(ServerTest, RoleComesWithTheFirstToken) {
  reply_by_hand();
  start();
  Client client(server_->port());
  client.send(post("/v1/chat/completions", R"({"messages":[{"role":"user","content":"hi"}],"stream":true})"));
  const api::Request request = executor().wait_request(0);
  ASSERT_TRUE(executor().emit_text(request.id, "a"));
  client.read_head();
  const std::string first = client.read_chunk();
  EXPECT_NE(first.find("\"role\":\"assistant\""), std::string::npos);
  EXPECT_NE(first.find("\"content\":\"a\""), std::string::npos);
  ASSERT_TRUE(executor().emit_text(request.id, "b"));
  EXPECT_NE(client.read_chunk().find("\"content\":\"b\""), std::string::npos);
  ASSERT_TRUE(executor().emit(request.id, events_of("c", api::FinishReason::kLength)));
  const std::string last = client.read_chunk();
  EXPECT_NE(last.find("\"finish_reason\":\"length\""), std::string::npos);
  EXPECT_TRUE(last.ends_with(kDone));
  EXPECT_EQ(client.read_chunk(), "");
}

TEST_F(ServerTest, CompletionsWhole) {
  reply("ab", api::FinishReason::kLength);
  const Answer answer =
      ask(post("/v1/completions", R"({"model":"org/tiny","prompt":"xyz","max_tokens":2,"return_token_ids":true})"));
  EXPECT_EQ(steady(answer.body),
            R"({"id":"cmpl-r1","object":"text_completion","created":0,"model":"org/tiny","system_fingerprint":"fp",)"
            R"("choices":[{"index":0,"text":"ab","logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":[97,98],)"
            R"("prompt_token_ids":[120,121,122]}],"usage":)" +
                usage(3, 2) + "}");
}

TEST_F(ServerTest, CompletionsStreamWithUsageInEveryChunk) {
  reply("ab", api::FinishReason::kLength);
  const Answer answer =
      ask(post("/v1/completions",
               R"({"prompt":[120],"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}})"));
  EXPECT_EQ(
      steady(answer.body),
      text_chunk(R"("choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null}],"usage":)" + usage(1, 1)) +
          text_chunk(R"("choices":[{"index":0,"text":"b","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":)" +
                     usage(1, 2)) +
          text_chunk("\"choices\":[],\"usage\":" + usage(1, 2)) + kDone);
}

TEST_F(ServerTest, StopStringsCutTheText) {
  reply("hello STOP more", api::FinishReason::kLength);
  const Answer answer = ask(post("/v1/completions", R"({"prompt":"x","stop":"STOP"})"));
  const auto body = base::parse_json(answer.body);
  ASSERT_TRUE(body.ok());
  const Json& choice = body->find("choices")->as_array()[0];
  EXPECT_EQ(choice.find("text")->as_string(), "hello ");
  EXPECT_EQ(choice.find("finish_reason")->as_string(), "stop");
  EXPECT_EQ(choice.find("stop_reason")->as_string(), "STOP");
}

TEST_F(ServerTest, LineSeparatorsAndHalfCharactersInStreams) {
  reply("\u2028\u0085\xE2\x82\xAC\xC3", api::FinishReason::kLength);  // ends in half a character
  const Answer answer = ask(post("/v1/completions", R"({"prompt":"x","stream":true})"));
  std::string text;
  for (size_t at = answer.body.find("\"text\":\""); at != std::string::npos; at = answer.body.find("\"text\":\"", at + 1)) {
    text += answer.body.substr(at + 8, answer.body.find('"', at + 8) - at - 8);
  }
  EXPECT_EQ(text, "\\u2028\\u0085\u20AC\uFFFD");
}

TEST_F(ServerTest, Logprobs) {
  executor().set_script([](const api::Request& request) {
    EXPECT_EQ(request.sampling.logprobs, 2);
    std::vector<api::TokenEvent> events = events_of("ab", api::FinishReason::kLength);
    events[0].logprob = api::TokenLogprob{'a', -0.5f};
    events[0].top_logprobs = {{'a', -0.5f}, {'b', -1.25f}};
    events[1].logprob = api::TokenLogprob{'b', -3.0f};
    events[1].top_logprobs = {{'x', -0.25f}, {'y', -std::numeric_limits<float>::infinity()}};
    return events;
  });
  const Answer completion = ask(post("/v1/completions", R"({"prompt":"x","logprobs":2})"));
  EXPECT_NE(
      completion.body.find(R"("logprobs":{"tokens":["a","b"],"token_logprobs":[-0.5,-3],"top_logprobs":[{"a":-0.5,"b":-1.25},)"
                           R"({"x":-0.25,"y":-9999.0,"b":-3}],"text_offset":[0,1]})"),
      std::string::npos)
      << completion.body;
  const Answer chat =
      ask(post("/v1/chat/completions", R"({"messages":[{"role":"user","content":"x"}],"logprobs":true,"top_logprobs":2})"));
  EXPECT_NE(chat.body.find(
                R"("logprobs":{"content":[{"token":"a","logprob":-0.5,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-0.5,)"
                R"("bytes":[97]},{"token":"b","logprob":-1.25,"bytes":[98]}]},{"token":"b","logprob":-3,)"),
            std::string::npos)
      << chat.body;
  const Answer ids = ask(post("/v1/completions", R"({"prompt":"x","logprobs":2,"return_tokens_as_token_ids":true})"));
  EXPECT_NE(ids.body.find(R"("tokens":["token_id:97","token_id:98"])"), std::string::npos);
}

TEST_F(ServerTest, GenerateWholeAndStream) {
  const Answer whole = ask(post("/generate", R"({"prompt":"x","max_new_tokens":5})"));
  EXPECT_EQ(whole.body, R"({"id":"gen-r1","model":"org/tiny","text":"Hi!","finish_reason":"stop","usage":)" + usage(1, 4) + "}");
  const Answer stream = ask(post("/generate", R"({"prompt":"x","streaming":true})"));
  EXPECT_EQ(stream.body, std::string(R"(data: {"id":"gen-r1","index":0,"token":72,"text":"H","finish_reason":null})") + "\n\n" +
                             R"(data: {"id":"gen-r1","index":1,"token":105,"text":"i","finish_reason":null})" + "\n\n" +
                             R"(data: {"id":"gen-r1","index":2,"token":33,"text":"!","finish_reason":null})" + "\n\n" +
                             R"(data: {"id":"gen-r1","index":3,"token":264,"text":"","finish_reason":"stop","usage":)" +
                             usage(1, 4) + "}\n\n" + kDone);
}

TEST_F(ServerTest, Models) {
  const std::string model = R"({"id":"org/tiny","object":"model","created":1700000000,"owned_by":"camshaft","root":"org/tiny",)"
                            R"("parent":null,"max_model_len":4096})";
  EXPECT_EQ(ask(get("/v1/models")).body, R"({"object":"list","data":[)" + model + "]}");
  EXPECT_EQ(ask(get("/v1/models/org/tiny")).body, model);
  EXPECT_EQ(ask(get("/v1/models/org%2Ftiny")).body, model);
  EXPECT_EQ(ask(get("/v1/models/none")).status, 404);
  EXPECT_NE(ask(get("/v1/models/none")).body.find("\"code\":\"model_not_found\""), std::string::npos);
}

TEST_F(ServerTest, ProbesAndMetrics) {
  for (const char* path : {"/health", "/healthz", "/livez", "/readyz", "/ready", "/v1/health", "/ping"}) {
    const Answer answer = ask(get(path));
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(answer.header("Content-Length"), "0") << path;
  }
  EXPECT_EQ(ask(get("/version")).body, R"({"version":"9.8.7"})");
  ask(post("/v1/completions", R"({"prompt":"x"})"));
  ask(post("/v1/completions", "{"));
  const Answer metrics = ask(get("/metrics"));
  EXPECT_EQ(metrics.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  for (const char* line : {"camshaft_http_requests_total{route=\"/v1/completions\",method=\"POST\",code=\"200\"} 1",
                           "camshaft_http_requests_total{route=\"/v1/completions\",method=\"POST\",code=\"400\"} 1",
                           "camshaft_http_requests_total{route=\"/v1/completions\",method=\"POST\",code=\"503\"} 0",
                           "camshaft_http_streams{proto=\"h1\"} 0"}) {
    EXPECT_NE(metrics.body.find(line), std::string::npos) << line;
  }
}

TEST_F(ServerTest, ProbesTellOfAModelThatStoppedOrHangs) {
  for (const char* reason : {"device_lost", "step_stuck"}) {
    executor().set_health(base::unavailable("a step has been running for 31.0 s, the limit is 30.0").with_reason(reason));
    for (const char* path : {"/health", "/healthz", "/livez", "/readyz", "/ready", "/v1/health", "/ping"}) {
      const Answer answer = ask(get(path));
      EXPECT_EQ(answer.status, 503) << path;
      EXPECT_EQ(answer.body, R"({"error":{"message":"a step has been running for 31.0 s, the limit is 30.0",)"
                             R"("type":"server_error","param":null,"code":")" +
                                 std::string(reason) + R"("}})");
    }
    EXPECT_EQ(ask(get("/version")).status, 200);
    EXPECT_EQ(ask(get("/metrics")).status, 200);
  }
  executor().set_health({});
  EXPECT_EQ(ask(get("/health")).status, 200);
}

// --- errors ---------------------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, ErrorsOfBodies) {
  struct Case {
    const char* path;
    std::string body;
    int status;
    const char* param;  // as JSON
    const char* code;
  };
  const std::string deep = std::string(70, '[') + std::string(70, ']');
  for (const Case& one : std::initializer_list<Case>{
           {"/v1/completions", "", 400, "null", "null"},
           {"/v1/completions", "{", 400, "null", "null"},
           {"/v1/completions", "[]", 400, "null", "null"},
           {"/v1/completions", "{\"prompt\":\"x\",\"prompt\":\"y\"}", 400, "null", "null"},
           {"/v1/completions", "{\"prompt\":" + deep + "}", 400, "null", "null"},
           {"/v1/completions", "{\"prompt\":\"\xC0\x80\"}", 400, "null", "null"},
           {"/v1/completions", "{\"prompt\":\"\xED\xA0\x80\"}", 400, "null", "null"},
           {"/v1/completions", "{\"prompt\":\"x\",\"temperature\":\"hot\"}", 400, "\"temperature\"", "\"invalid_value\""},
           {"/v1/completions", "{\"prompt\":\"x\",\"temperature\":1e999}", 400, "null", "null"},
           {"/v1/completions", "{\"prompt\":\"x\",\"max_tokens\":0}", 400, "\"max_tokens\"", "\"invalid_value\""},
           {"/v1/completions", "{\"prompt\":[-1]}", 400, "\"prompt\"", "\"invalid_value\""},
           {"/v1/completions", "{\"prompt\":[49152]}", 400, "\"prompt\"", "\"invalid_value\""},
           {"/v1/completions", "{\"prompt\":\"x\",\"n\":2}", 400, "\"n\"", "\"unsupported_parameter\""},
           {"/v1/completions", "{\"prompt\":\"x\",\"model\":\"other\"}", 404, "\"model\"", "\"model_not_found\""},
           {"/v1/chat/completions", "{}", 400, "\"messages\"", "\"invalid_value\""},
           {"/generate", "{}", 400, "\"prompt\"", "\"invalid_value\""},
       }) {
    const Answer answer = ask(post(one.path, one.body));
    EXPECT_EQ(answer.status, one.status) << one.body;
    const auto body = base::parse_json(answer.body);
    ASSERT_TRUE(body.ok()) << answer.body;
    const Json& error = *body->find("error");
    EXPECT_EQ(error.find("type")->as_string(), "invalid_request_error") << one.body;
    EXPECT_EQ(error.find("param")->dump(), one.param) << one.body;
    EXPECT_EQ(error.find("code")->dump(), one.code) << one.body;
    EXPECT_FALSE(error.find("message")->as_string().empty());
  }
  EXPECT_EQ(ask(post("/v1/completions", R"({"prompt":"x"})")).status, 200);  // the next one works
}

TEST_F(ServerTest, RoutesMethodsAndTypes) {
  EXPECT_EQ(ask(get("/nothing")).status, 404);
  EXPECT_EQ(ask(get("/v1/models/")).status, 404);
  EXPECT_EQ(ask(get("//health")).status, 404);
  const Answer wrong_method = ask(get("/v1/chat/completions"));
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.header("Allow"), "POST");
  EXPECT_EQ(ask("DELETE /v1/models HTTP/1.1\r\nHost: h\r\n\r\n").header("Allow"), "GET, HEAD");
  EXPECT_EQ(ask("POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}").status, 415);
  EXPECT_EQ(ask("POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}").status, 415);
  EXPECT_EQ(ask(post("/v1/completions", R"({"prompt":"x"})", "Content-Encoding: gzip\r\n")).status, 415);
  EXPECT_EQ(ask("POST /v1/completions HTTP/1.1\r\nHost: h\r\nContent-Type: Application/JSON; charset=utf-8\r\nContent-Length: "
                "14\r\n\r\n{\"prompt\":\"x\"}")
                .status,
            200);
}

TEST_F(ServerTest, HeadHasNoBody) {
  start();
  Client client(server_->port());
  client.send("HEAD /v1/models HTTP/1.1\r\nHost: h\r\n\r\n" + get("/version"));
  const Answer head = client.read_answer(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_NE(head.header("Content-Length"), "0");
  EXPECT_EQ(client.read_answer().body, R"({"version":"9.8.7"})");
}

TEST_F(ServerTest, BodyLimit) {
  options_.max_body_bytes = 100;
  const auto body = [](size_t bytes) { return R"({"prompt":"x","user":")" + std::string(bytes - 24, 'a') + "\"}"; };
  ASSERT_EQ(body(100).size(), 100u);
  EXPECT_EQ(ask(post("/v1/completions", body(100))).status, 200);
  const Answer answer = ask(post("/v1/completions", body(101)));
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.header("Connection"), "close");
  EXPECT_NE(answer.body.find("\"code\":\"payload_too_large\""), std::string::npos);
}

TEST_F(ServerTest, ExecutorRefusals) {
  start();
  executor().refuse_next(base::unavailable("the queue holds 1024 requests already").with_reason("queue_full"));
  const Answer full = ask(post("/v1/completions", R"({"prompt":"x"})"));
  EXPECT_EQ(full.status, 503);
  EXPECT_EQ(full.header("Retry-After"), "1");
  EXPECT_NE(full.body.find(R"("type":"overloaded_error","param":null,"code":"queue_full")"), std::string::npos) << full.body;
  executor().refuse_next(base::invalid_argument("9000 tokens, at most 4096").with_reason("context_length_exceeded"));
  const Answer too_long = ask(post("/v1/completions", R"({"prompt":"x"})"));
  EXPECT_EQ(too_long.status, 400);
  EXPECT_NE(too_long.body.find("\"code\":\"context_length_exceeded\""), std::string::npos);
  executor().refuse_next(base::internal_error("/secret/path"));
  const Answer broken = ask(post("/v1/completions", R"({"prompt":"x"})"));
  EXPECT_EQ(broken.status, 500);
  EXPECT_EQ(broken.body.find("secret"), std::string::npos);
}

TEST_F(ServerTest, ErrorBeforeTheFirstToken) {
  executor().set_script([](const api::Request&) { return failure(); });
  for (const char* stream : {"false", "true"}) {
    const Answer answer = ask(post("/v1/completions", std::string(R"({"prompt":"x","stream":)") + stream + "}"));
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    EXPECT_EQ(answer.body.find("kernel"), std::string::npos);
  }
}

TEST_F(ServerTest, ErrorInAStreamIsAnEvent) {
  reply_by_hand();
  start();
  Client client(server_->port());
  client.send(post("/v1/completions", R"({"prompt":"x","stream":true})") + get("/version"));
  const api::Request request = executor().wait_request(0);
  executor().emit_text(request.id, "a");
  client.read_head();
  client.read_chunk();
  executor().emit(request.id, failure());
  const std::string last = client.read_chunk();
  EXPECT_TRUE(last.starts_with("data: {\"error\":{")) << last;
  EXPECT_TRUE(last.ends_with("\n\n" + kDone));
  EXPECT_EQ(client.read_chunk(), "");
  EXPECT_EQ(client.read_answer().status, 200);  // the connection goes on
}

TEST_F(ServerTest, DeadlineBeforeTheEnd) {
  options_.request_timeout_s = 0;
  reply_by_hand();
  start();
  Client client(server_->port());
  client.send(post("/v1/completions", R"({"prompt":"x"})"));
  const api::Request request = executor().wait_request(0);
  ASSERT_TRUE(request.deadline.has_value());
  executor().cancel(request.id, api::FinishReason::kAbort);
  const Answer answer = client.read_answer();
  EXPECT_EQ(answer.status, 504);
  EXPECT_EQ(answer.header("x-should-retry"), "false");
}

TEST_F(ServerTest, MalformedRequestsCloseTheConnection) {
  start();
  Client client(server_->port());
  client.send(get("/version") + "GET / HTTP/1.1\nHost: h\n\n" + get("/version"));
  EXPECT_EQ(client.read_answer().status, 200);
  const Answer answer = client.read_answer();
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.header("Connection"), "close");
  EXPECT_NE(answer.body.find("\"error\""), std::string::npos);
  EXPECT_EQ(client.read_all(), "");
}

TEST(RoutesTest, EveryRouteAnswersAndIsUnique) {
  for (const Route& route : route_table()) {
    ASSERT_NE(route.handle, nullptr);
    std::string path(route.path);
    if (path.ends_with("{id}")) path = path.substr(0, path.size() - 4) + "x";
    EXPECT_EQ(find_route(route.method, path).route, &route) << path;
  }
}

}  // namespace
}  // namespace camshaft::server
