// The bytes of an answer: head, chunks.
#pragma once

#include <string>
#include <string_view>

#include "server/http/message.h"

namespace camshaft::server::http {

enum class Persistence : unsigned char { kClose, kKeepAlive };
enum class BodyKind : unsigned char { kSized, kChunked, kUntilClose };

struct HeadContext {
  std::string_view request_id;
  bool http11 = true;
  Persistence persistence = Persistence::kKeepAlive;
  BodyKind body = BodyKind::kSized;
};

void append_head(std::string& out, const Response& response, const HeadContext& context);
// An event stream's head, before the first event.
Response stream_head();
void append_chunk(std::string& out, std::string_view data);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
inline constexpr std::string_view kKeepAliveComment = ": keep-alive\n\n";

}  // namespace camshaft::server::http
