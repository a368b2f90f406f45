#include "server/http/response_writer.h"

#include <charconv>
#include <ctime>

namespace camshaft::server::http {
namespace {

void append_number(std::string& out, uint64_t value, int base) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value, base).ptr);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

// IMF-fixdate, as RFC 9110 section 5.6.7 wants it whatever the locale.
std::string http_date(std::time_t now) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  const size_t length = std::strftime(text, sizeof(text), ", %d     %Y %H:%M:%S GMT", &utc);
  std::string date = kDays[utc.tm_wday] + std::string(text, length);
  return date.replace(8, 3, kMonths[utc.tm_mon]);
}

void append_framing(std::string& out, const Response& response, const HeadContext& context) {
  if (context.body == BodyKind::kChunked) append_field(out, "Transfer-Encoding", "chunked");
  if (context.body == BodyKind::kSized) {
    out.append("Content-Length: ");
    append_number(out, response.body.size(), 10);
    out.append("\r\n");
  }
  if (context.persistence == Persistence::kClose) {
    append_field(out, "Connection", "close");
  } else if (!context.http11) {
    append_field(out, "Connection", "keep-alive");
  }
}

}  // namespace

void append_head(std::string& out, const Response& response, const HeadContext& context) {
  out.append("HTTP/1.1 ");
  append_number(out, static_cast<uint64_t>(response.status), 10);
  out.append(" ").append(status_text(response.status)).append("\r\n");
  append_field(out, "Date", http_date(std::time(nullptr)));
  if (!response.content_type.empty()) append_field(out, "Content-Type", response.content_type);
  for (const Header& header : response.headers) append_field(out, header.name, header.value);
  if (!context.request_id.empty()) append_field(out, "X-Request-Id", context.request_id);
  append_framing(out, response, context);
  out.append("\r\n");
}

Response stream_head() {
  return {200, "text/event-stream; charset=utf-8", "", {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
}

void append_chunk(std::string& out, std::string_view data) {
  if (data.empty()) return;  // an empty chunk would end the body
  append_number(out, data.size(), 16);
  out.append("\r\n").append(data).append("\r\n");
}

}  // namespace camshaft::server::http
