// RequestParser: bytes of one connection to requests, one after the other. The library behind it (Boost.Beast) is seen only in
// request_parser.cc; what it would let pass is refused in front of it (head_check).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "server/http/head_check.h"
#include "server/http/message.h"

namespace camshaft::server::http {

struct ParserLimits {
  HeadLimits head;
  uint64_t body_bytes = uint64_t{8} << 20;
  uint32_t chunks = 16'384;
};

class RequestParser {
 public:
  explicit RequestParser(const ParserLimits& limits);
  ~RequestParser();

  enum class State : uint8_t {
    kNeedMore,
    kDone,   // take() the request; bytes behind it stay for the next
    kFailed  // see refusal(); nothing more can be read from this connection
  };
  void append(std::string_view bytes);
  // Goes as far as the bytes reach.
  State parse();
  Request take();
  const Refusal& refusal() const;

  bool idle() const;       // no byte of a request is here
  bool head_done() const;  // the body is what is missing
  // Once for a request that wants "100 Continue" before it sends its body.
  bool take_continue();
  size_t buffered() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::server::http
