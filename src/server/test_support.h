// A server over a fake executor, and a blocking client that speaks bytes. For tests only.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "server/http/message.h"
#include "server/server.h"
#include "server/test_fake_executor.h"
#include "text/tokenizer_test_specs.h"

namespace camshaft::server {

inline constexpr int32_t kEndToken = 264;  // "<|im|>"
inline constexpr const char* kTestTemplate =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";

inline generation::ModelEntry make_test_entry(const std::string& name) {
  generation::ModelEntry entry;
  entry.name = name;
  api::TokenizerSpec spec = text::tiny_byte_level();
  spec.eos = kEndToken;
  spec.end_ids = {kEndToken};
  auto tokenizer = text::Tokenizer::make(std::move(spec));
  CS_CHECK(tokenizer.ok(), tokenizer.status().to_string());
  entry.tokenizer = std::make_unique<text::Tokenizer>(std::move(*tokenizer));
  entry.prompt.chat_template = kTestTemplate;
  auto parsed = text::ChatTemplate::parse(kTestTemplate);
  CS_CHECK(parsed.ok(), parsed.status().to_string());
  entry.chat_template = std::make_unique<text::ChatTemplate>(std::move(*parsed));
  entry.executor = std::make_unique<FakeExecutor>();
  entry.created_unix = 1'700'000'000;
  return entry;
}

inline const std::string kDone = "data: [DONE]\n\n";

inline std::vector<api::TokenEvent> failure() {
  api::TokenEvent event;
  event.finish = api::FinishReason::kError;
  event.error = base::internal_error("kernel 7 said no");
  return {event};
}

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
  std::vector<std::string> chunks;  // of a chunked body

  std::string header(std::string_view name) const {
    const size_t at = head.find("\r\n" + std::string(name) + ": ");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

class Client {
 public:
  explicit Client(int port, int receive_buffer = 0) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{60, 0};  // a test that would hang fails instead
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    const int at_once = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof(at_once));
    if (receive_buffer > 0) ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0) << std::strerror(errno);
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  // Closing sends RST.
  void reset() {
    const linger hard{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
    close();
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;  // the server has closed; its answer tells
      bytes.remove_prefix(static_cast<size_t>(count));
    }
  }

  // False at the end.
  bool fill() {
    char buffer[16384];
    const ssize_t count = ::recv(fd_, buffer, sizeof(buffer), 0);
    if (count > 0) in_.append(buffer, static_cast<size_t>(count));
    return count > 0;
  }
  bool at_end() { return in_.empty() && !fill(); }

  // Up to and with `end`; what is there when the connection ends before.
  std::string read_until(std::string_view end) {
    size_t at = in_.find(end);
    while (at == std::string::npos && fill()) at = in_.find(end);
    return take(at == std::string::npos ? in_.size() : at + end.size());
  }
  std::string read_count(size_t count) {
    while (in_.size() < count && fill()) {
    }
    return take(std::min(count, in_.size()));
  }
  std::string read_all() {
    while (fill()) {
    }
    return take(in_.size());
  }

  Answer read_head() {
    Answer answer;
    answer.head = read_until("\r\n\r\n");
    if (answer.head.size() > 12) answer.status = std::atoi(answer.head.c_str() + 9);
    return answer;
  }
  // Empty for the last one.
  std::string read_chunk() {
    const std::string line = read_until("\r\n");
    size_t size = 0;
    std::from_chars(line.data(), line.data() + line.size(), size, 16);
    const std::string data = read_count(size);
    EXPECT_EQ(read_count(2), "\r\n");
    return data;
  }
  Answer read_answer(bool head_only = false) {
    Answer answer = read_head();
    if (head_only) return answer;
    if (answer.header("Transfer-Encoding") == "chunked") {
      for (std::string chunk = read_chunk(); !chunk.empty(); chunk = read_chunk()) {
        answer.chunks.push_back(chunk);
        answer.body += chunk;
      }
    } else if (!answer.header("Content-Length").empty()) {
      answer.body = read_count(static_cast<size_t>(std::atoll(answer.header("Content-Length").c_str())));
    } else {
      answer.body = read_all();
    }
    return answer;
  }

 private:
  std::string take(size_t count) {
    std::string out = in_.substr(0, count);
    in_.erase(0, count);
    return out;
  }
  int fd_;
  std::string in_;
};

inline std::string post(std::string_view path, std::string_view body, std::string_view more_headers = "") {
  return "POST " + std::string(path) + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nX-Request-Id: r1\r\n" +
         std::string(more_headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}
inline std::string get(std::string_view path) { return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n\r\n"; }

// What differs from run to run, made equal.
inline std::string steady(std::string text) {
  const auto blank = [&](std::string_view key, std::string_view stop, std::string_view value) {
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + key.size())) {
      const size_t begin = at + key.size();
      text.replace(begin, text.find_first_of(stop, begin) - begin, value);
    }
  };
  blank("\"created\":", ",}", "0");
  blank("\"system_fingerprint\":\"", "\"", "fp");
  return text;
}

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    options_.port = 0;
    options_.version = "9.8.7";
    reply("Hi!", api::FinishReason::kStop, kEndToken);
  }
  ~ServerTest() override { server_.reset(); }

  void start() {
    auto server = Server::start(options_, {&entry_}, registry_);
    ASSERT_TRUE(server.ok()) << server.status().to_string();
    server_ = std::move(*server);
  }
  FakeExecutor& executor() { return static_cast<FakeExecutor&>(*entry_.executor); }
  void reply(std::string text, api::FinishReason finish, int32_t end_token = -1) {
    executor().set_script([=](const api::Request&) { return events_of(text, finish, end_token); });
  }
  void reply_by_hand() { executor().set_script(nullptr); }
  Answer ask(std::string_view bytes) {
    if (server_ == nullptr) start();
    Client client(server_->port());
    client.send(bytes);
    return client.read_answer();
  }

  ServerOptions options_;
  base::MetricsRegistry registry_;
  generation::ModelEntry entry_ = make_test_entry("org/tiny");
  std::unique_ptr<Server> server_;
};

}  // namespace camshaft::server
