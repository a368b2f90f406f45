// Connection: one client, on one loop. Reads requests in order, answers them in order, watches its times and limits.
// Includes Boost.Asio; only connection.cc and http_server.cc include this.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <random>
#include <string>

#include "server/http/exchange.h"
#include "server/http/http_server.h"
#include "server/http/request_parser.h"

namespace camshaft::server::http {

class Connection;

// What the connections of one loop share. Owned by the loop.
struct LoopContext {
  virtual ~LoopContext() = default;
  // Called at the end of the connection's last handler: nothing refers to it any more.
  virtual void remove(Connection& connection) = 0;

  boost::asio::io_context io{1};
  const HttpOptions* options = nullptr;
  const HttpMetrics* metrics = nullptr;
  Application* application = nullptr;
  std::mt19937_64 random;
  std::string scratch;    // what a read fills; its bytes are taken at once
  bool closing = false;   // connections close behind their answers
  bool stopping = false;  // and without ceremony
};

class Connection final : public Exchange {
 public:
  Connection(LoopContext& loop, boost::asio::ip::tcp::socket socket, std::string address);
  ~Connection() override;

  const std::string& address() const { return address_; }
  void start();
  // Checks the times. Called a few times a second.
  void tick(base::SteadyTime now);
  // Closes when idle, else behind the answer in progress.
  void close_when_idle();

  void set_owner(ExchangeOwner* owner) override { owner_ = owner; }
  void respond(Response response) override;
  void begin_stream() override;
  bool head_sent() const override { return head_sent_; }
  void append(std::string_view events) override;
  void flush() override;
  void end_stream() override;

 private:
  enum class Phase : uint8_t {
    kReading,    // waiting for a request, or in the middle of one
    kAnswering,  // a request is with the application
    kLingering,  // all is sent; reads what the client still sends, so that it sees the answer and no reset
    kClosed
  };

  void advance();
  bool step();
  void serve(Request request);
  void refuse(const Refusal& refusal);
  void take_ids(Request& request);
  std::string make_id();
  void finish_answer();
  void leave_stream();
  void write_head(const Response& response, bool sized);
  void send_stream(std::string_view data);

  void want_read();
  void on_readable(const boost::system::error_code& error);
  void on_bytes(std::string_view bytes);
  void on_end(bool reset);
  void send();
  bool write_some();
  void on_writable(const boost::system::error_code& error);
  void on_all_sent();

  void check_reading(base::SteadyTime now);
  void check_stream(base::SteadyTime now);
  void give_up();
  void linger();
  void close();
  void settle();

  LoopContext& loop_;
  boost::asio::ip::tcp::socket socket_;
  std::string address_;
  RequestParser parser_;
  Phase phase_ = Phase::kReading;

  // The request being answered.
  ExchangeOwner* owner_ = nullptr;
  std::string request_id_;
  bool http11_ = true;
  bool keep_alive_ = true;
  bool body_wanted_ = true;  // not for HEAD
  bool streaming_ = false;
  bool head_sent_ = false;
  std::string events_;  // appended, not flushed

  std::string out_;           // bytes for the socket
  size_t sent_ = 0;           // of out_
  size_t blocked_bytes_ = 0;  // put into out_ since the socket last took everything
  bool close_after_send_ = false;
  bool client_done_ = false;  // it will send nothing more
  bool reading_ = false;      // a wait for bytes is outstanding
  bool writing_ = false;      // a wait for room is outstanding
  bool advancing_ = false;
  int pending_ = 0;  // outstanding waits, each of which refers to this

  base::SteadyTime since_;      // the phase's beginning: idle, first byte of a head, end of a head
  base::SteadyTime last_sent_;  // when the socket last took something
  enum class Wait : uint8_t { kIdle, kHead, kBody } wait_ = Wait::kIdle;
};

}  // namespace camshaft::server::http
