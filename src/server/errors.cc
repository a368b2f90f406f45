#include "server/errors.h"

#include "base/format.h"
#include "base/json.h"

namespace camshaft::server {
namespace {

struct ErrorKind {
  int status;
  std::string_view type;
  std::string_view code;  // where the status gives no reason; empty: null
};

constexpr std::string_view kInvalidRequest = "invalid_request_error";

ErrorKind kind_of(const Status& status) {
  switch (status.code()) {
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
      if (status.reason() == kUnsupportedMediaType) return {415, kInvalidRequest, ""};
      if (status.reason() == kMethodNotAllowed) return {405, kInvalidRequest, ""};
      return {400, kInvalidRequest, status.subject().empty() ? std::string_view() : kInvalidValue};
    case Code::kUnimplemented: return {400, kInvalidRequest, kUnsupportedParameter};
    case Code::kNotFound: return {404, kInvalidRequest, ""};
    case Code::kResourceExhausted: return {413, kInvalidRequest, "payload_too_large"};
    case Code::kUnavailable:
      if (status.reason() == "device_lost" || status.reason() == "step_stuck") return {503, "server_error", ""};
      return {503, "overloaded_error", "overloaded"};
    case Code::kCancelled: return {503, "overloaded_error", "overloaded"};
    case Code::kDeadlineExceeded: return {504, "timeout_error", "request_timeout"};
    default: return {500, "server_error", "internal_error"};
  }
}

void append_nullable(std::string& out, std::string_view text) {
  if (text.empty()) {
    out.append("null");
  } else {
    base::append_json_string(out, text);
  }
}

std::string body_of(std::string_view message, std::string_view type, std::string_view param, std::string_view code) {
  std::string out = "{\"error\":{\"message\":";
  base::append_json_string(out, message);
  out.append(",\"type\":");
  base::append_json_string(out, type);
  out.append(",\"param\":");
  append_nullable(out, param);
  out.append(",\"code\":");
  append_nullable(out, code);
  out.append("}}");
  return out;
}

std::string_view type_of(int status) { return status >= 500 && status != 501 && status != 505 ? "server_error" : kInvalidRequest; }

}  // namespace

Status unsupported_field(std::string_view field, std::string_view what) {
  return base::unimplemented(format("{}: {}", field, what))
      .with_subject(std::string(field))
      .with_reason(std::string(kUnsupportedParameter));
}

Status invalid_field(std::string_view field, std::string_view what) {
  return base::invalid_argument(format("{}: {}", field, what))
      .with_subject(std::string(field))
      .with_reason(std::string(kInvalidValue));
}

std::string error_body(const Status& status) {
  const ErrorKind kind = kind_of(status);
  // What went wrong inside stays inside: the log has it, under the request's id.
  if (kind.status == 500) return body_of("the server failed on this request; its log has more", kind.type, "", kind.code);
  return body_of(status.message(), kind.type, status.subject(),
                 status.reason().empty() ? kind.code : std::string_view(status.reason()));
}

http::Response error_response(const Status& status) {
  http::Response response{kind_of(status).status, "application/json", error_body(status), {}};
  if (response.status == 503) response.headers.push_back({"Retry-After", "1"});
  if (response.status == 504) response.headers.push_back({"x-should-retry", "false"});
  return response;
}

http::Response error_response(const http::Refusal& refusal) {
  return {refusal.status, "application/json", body_of(refusal.message, type_of(refusal.status), "", refusal.code), {}};
}

}  // namespace camshaft::server
