// Connections over loopback: order, persistence, clients that go, stall or send slowly, limits, drain. Nothing waits for time to
// pass but where a time limit is what is tested.
#include <thread>

#include "server/server.h"
#include "server/test_support.h"

namespace camshaft::server {
namespace {

TEST_F(ServerTest, RequestIds) {
  EXPECT_EQ(ask(get("/health")).header("X-Request-Id").size(), 32u);
  EXPECT_EQ(ask("GET /health HTTP/1.1\r\nHost: h\r\nX-Request-Id: A.b_c:9-z\r\n\r\n").header("X-Request-Id"), "A.b_c:9-z");
  for (const std::string& bad : {std::string("a b"), std::string("\"x\""), std::string(129, 'a')}) {
    const std::string id = ask("GET /health HTTP/1.1\r\nHost: h\r\nX-Request-Id: " + bad + "\r\n\r\n").header("X-Request-Id");
    EXPECT_EQ(id.size(), 32u) << bad;
  }
}

TEST_F(ServerTest, PipeliningInOrder) {
  start();
  Client client(server_->port());
  std::string bytes;
  for (int i = 0; i < 20; ++i) bytes += post("/generate", R"({"prompt":"x"})") + get("/version");
  client.send(bytes);
  for (int i = 0; i < 20; ++i) {
    EXPECT_NE(client.read_answer().body.find("\"text\":\"Hi!\""), std::string::npos);
    EXPECT_EQ(client.read_answer().body, R"({"version":"9.8.7"})");
  }
}

TEST_F(ServerTest, SplitAtEveryByte) {
  start();
  const std::string bytes = post("/generate", R"({"prompt":"x"})");
  const std::string whole = ask(bytes).body;
  Client client(server_->port());
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    client.send(bytes.substr(0, cut));
    client.send(bytes.substr(cut));
    EXPECT_EQ(client.read_answer().body, whole) << cut;
  }
}

TEST_F(ServerTest, EmptyLineBeforeARequest) {
  start();
  Client client(server_->port());
  for (const std::string& bytes : {"\r\n" + get("/version"), "\r\n" + post("/generate", R"({"prompt":"x"})")}) {
    client.send(bytes.substr(0, 2));
    client.send(bytes.substr(2));
    EXPECT_EQ(client.read_answer().status, 200);
  }
}

TEST_F(ServerTest, OldAndClosingClients) {
  const auto ends = [&](std::string_view bytes) {
    if (server_ == nullptr) start();
    Client client(server_->port());
    client.send(bytes);
    const Answer answer = client.read_answer();
    EXPECT_EQ(answer.status, 200);
    return client.at_end() ? answer.header("Connection") : "open";
  };
  EXPECT_EQ(ends("GET /version HTTP/1.0\r\n\r\n"), "close");
  EXPECT_EQ(ends("GET /version HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"), "close");
  Client kept(server_->port());
  for (int i = 0; i < 2; ++i) {
    kept.send("GET /version HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(kept.read_answer().header("Connection"), "keep-alive");
  }
  Client old(server_->port());  // a stream without chunks
  old.send(
      "POST /generate HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: "
      "31\r\n\r\n{\"prompt\":\"x\",\"streaming\":true}");
  const Answer stream = old.read_answer();
  EXPECT_EQ(stream.header("Transfer-Encoding"), "");
  EXPECT_TRUE(stream.body.ends_with(kDone)) << stream.body;
}

TEST_F(ServerTest, HalfClosedClientsGetWhatIsAnswered) {
  start();
  Client client(server_->port());
  client.send(get("/version") + get("/version") + "GET /par");
  client.finish_sending();
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, ContinueIsSent) {
  start();
  Client client(server_->port());
  client.send(
      "POST /generate HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 14\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(R"({"prompt":"x"})");
  EXPECT_EQ(client.read_answer().status, 200);
}

TEST_F(ServerTest, DisconnectCancels) {
  reply_by_hand();
  start();
  size_t n = 0;
  for (const char* stream : {"false", "true"}) {
    for (const bool begun : {false, true}) {
      for (const bool hard : {false, true}) {
        Client client(server_->port());
        client.send(post("/v1/completions", std::string(R"({"prompt":"x","max_tokens":100,"stream":)") + stream + "}"));
        const api::Request request = executor().wait_request(n++);
        if (begun) executor().emit_text(request.id, "a");
        if (begun && stream == std::string("true")) client.read_head();
        hard ? client.reset() : client.close();
        EXPECT_EQ(executor().wait_cancelled(request.id), api::FinishReason::kAbort);
      }
    }
  }
}

TEST_F(ServerTest, ClientThatDoesNotReadIsCancelled) {
  options_.send_buffer_bytes = 4096;
  options_.max_unsent_bytes = 16384;
  reply_by_hand();
  start();
  Client client(server_->port(), 4096);
  client.send(post("/v1/completions", R"({"prompt":"x","max_tokens":4000,"stream":true})"));
  const api::Request request = executor().wait_request(0);
  int emitted = 0;
  while (executor().emit_text(request.id, "abcdefgh")) ASSERT_LT(++emitted, 100'000);
  EXPECT_EQ(executor().wait_cancelled(request.id), api::FinishReason::kAbort);
  EXPECT_EQ(ask(get("/health")).status, 200);
}

TEST_F(ServerTest, ClientThatStopsReadingIsCancelledInTime) {
  options_.send_buffer_bytes = 4096;
  options_.send_timeout_s = 0.05;
  reply_by_hand();
  start();
  Client client(server_->port(), 4096);
  client.send(post("/v1/completions", R"({"prompt":"x","max_tokens":4000,"stream":true,"stop":[]})"));
  const api::Request request = executor().wait_request(0);
  executor().emit_text(request.id, std::string(2000, 'a'));  // about 300 KB of events in one write
  EXPECT_EQ(executor().wait_cancelled(request.id), api::FinishReason::kAbort);
}

TEST_F(ServerTest, SlowHeadsAndBodies) {
  options_.header_timeout_s = options_.body_timeout_s = 0.05;
  start();
  for (const char* bytes : {"GET /health HT", "POST /generate HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n{"}) {
    Client client(server_->port());
    client.send(bytes);
    EXPECT_EQ(client.read_answer().status, 408) << bytes;
    EXPECT_TRUE(client.at_end());
  }
}

TEST_F(ServerTest, IdleConnectionsClose) {
  options_.idle_timeout_s = 0.05;
  start();
  Client client(server_->port());
  client.send(get("/health"));
  EXPECT_EQ(client.read_answer().status, 200);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, KeepAliveComments) {
  options_.keep_alive_comment_s = 0.02;
  reply_by_hand();
  start();
  Client client(server_->port());
  client.send(post("/v1/completions", R"({"prompt":"x","stream":true})"));
  const api::Request request = executor().wait_request(0);
  EXPECT_EQ(client.read_head().status, 200);
  EXPECT_EQ(client.read_chunk(), ": keep-alive\n\n");
  executor().emit(request.id, failure());  // too late for a status of its own
  std::string events;
  for (std::string data = client.read_chunk(); !data.empty(); data = client.read_chunk()) events += data;
  EXPECT_NE(events.find("data: {\"error\""), std::string::npos);
}

TEST_F(ServerTest, ConnectionsPerAddress) {
  options_.max_connections_per_address = 2;
  start();
  Client first(server_->port());
  Client second(server_->port());
  for (Client* client : {&first, &second}) {
    client->send(get("/health"));
    EXPECT_EQ(client->read_answer().status, 200);
  }
  Client third(server_->port());
  third.send(get("/health"));
  EXPECT_TRUE(third.at_end());
}

// --- the whole server
// -------------------------------------------------------------------------------------------------------------

TEST_F(ServerTest, DrainLetsRunningRequestsFinish) {
  reply_by_hand();
  start();
  Client running(server_->port());
  running.send(post("/v1/completions", R"({"prompt":"x","stream":true})"));
  const api::Request request = executor().wait_request(0);
  Client idle(server_->port());
  idle.send(get("/readyz"));
  EXPECT_EQ(idle.read_answer().status, 200);
  std::thread drain([&] { server_->drain(); });
  Answer ready;
  do {  // until the flag is seen
    Client probe(server_->port());
    probe.send(get("/readyz"));
    ready = probe.read_answer();
  } while (ready.status == 200);
  EXPECT_EQ(ready.status, 503);
  EXPECT_EQ(ask(get("/livez")).status, 200);
  const Answer refused = ask(post("/v1/completions", R"({"prompt":"x"})"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_NE(refused.body.find("\"code\":\"draining\""), std::string::npos);
  EXPECT_EQ(refused.header("Retry-After"), "1");
  executor().emit(request.id, events_of("ab", api::FinishReason::kLength));
  EXPECT_TRUE(running.read_answer().body.ends_with(kDone));
  EXPECT_TRUE(running.at_end());
  EXPECT_TRUE(idle.at_end());
  drain.join();
}

TEST_F(ServerTest, DrainCutsWhatRunsTooLong) {
  options_.drain_timeout_s = 0.05;
  reply_by_hand();
  start();
  Client client(server_->port());
  client.send(post("/v1/completions", R"({"prompt":"x"})"));
  executor().wait_request(0);
  server_->drain();
  const Answer answer = client.read_answer();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("\"code\":\"draining\""), std::string::npos);
}

TEST_F(ServerTest, GoesAwayWithRequestsRunning) {
  reply_by_hand();
  start();
  Client client(server_->port());
  client.send(post("/v1/completions", R"({"prompt":"x","stream":true})"));
  executor().wait_request(0);
  server_.reset();
  client.read_all();
}

TEST_F(ServerTest, ManyClientsOnTwoLoops) {
  options_.io_threads = 2;
  executor().set_script([](const api::Request& request) {
    std::string text(request.prompt.begin(), request.prompt.end());
    return events_of(text, api::FinishReason::kLength);
  });
  start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([this, t] {
      Client client(server_->port());
      for (int i = 0; i < 20; ++i) {
        const std::string prompt = "t" + std::to_string(t) + "i" + std::to_string(i);
        client.send(post("/generate", R"({"prompt":")" + prompt + "\"}"));
        EXPECT_NE(client.read_answer().body.find("\"text\":\"" + prompt + "\""), std::string::npos);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ServerTest, RefusesAPortInUse) {
  start();
  ServerOptions same = options_;
  same.port = server_->port();
  base::MetricsRegistry registry;
  const auto second = Server::start(same, {&entry_}, registry);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.status().message().find("--port"), std::string::npos);
}

}  // namespace
}  // namespace camshaft::server
