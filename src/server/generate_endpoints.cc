// The three endpoints that generate: content type, JSON, fields, then a job with the dialect's format.
#include "base/json.h"
#include "server/endpoints.h"
#include "server/errors.h"
#include "server/service.h"

namespace camshaft::server {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr uint64_t kMaxJsonValues = 1'000'000;
constexpr uint32_t kMaxJsonDepth = 64;

std::string_view media_type(std::string_view value) {
  value = value.substr(0, value.find(';'));
  while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
  return value;
}

Status check_content_type(const http::Request& request) {
  const std::string* encoding = request.header("content-encoding");
  const std::string* type = request.header("content-type");
  const bool plain = encoding == nullptr || http::equal_ignoring_case(*encoding, "identity");
  if (plain && type != nullptr && http::equal_ignoring_case(media_type(*type), kJsonType)) return base::ok_status();
  return base::invalid_argument(plain ? "the body must be sent with Content-Type: application/json"
                                      : "compressed bodies are not accepted")
      .with_reason(std::string(kUnsupportedMediaType));
}

// Whatever is wrong with the text (size and depth too) is the sender's mistake.
Result<Json> parse_body(const http::Request& request, const ServerOptions& options) {
  auto body = base::parse_json(request.body, {options.max_body_bytes, kMaxJsonDepth, kMaxJsonValues});
  if (body.ok()) return body;
  return base::invalid_argument("the body is not acceptable JSON: " + body.status().message());
}

struct Dialect {
  ApiRoute route;
  std::string_view id_prefix;
  std::unique_ptr<AnswerFormat> (*make_format)(AnswerStart start);
};

Status start(RouteCall& call, const Dialect& dialect) {
  const Shared& shared = call.service.shared();
  CS_RETURN_IF_ERROR(check_content_type(call.request));
  CS_ASSIGN_OR_RETURN(const Json body, parse_body(call.request, shared.options));
  CS_ASSIGN_OR_RETURN(Call decoded, decode_call(dialect.route, body, call.service.decode_context()));
  return call.service.start_job(call, std::move(decoded), dialect.id_prefix, dialect.make_format);
}

std::optional<http::Response> answer(RouteCall& call, const Dialect& dialect) {
  const Status status = start(call, dialect);
  if (status.ok()) return {};
  return call.service.describe_error(status, call.request.id);
}

}  // namespace

std::optional<http::Response> post_chat_completions(RouteCall& call) {
  return answer(call, {kChat, "chatcmpl-", make_chat_format});
}
std::optional<http::Response> post_completions(RouteCall& call) {
  return answer(call, {kCompletions, "cmpl-", make_completions_format});
}
std::optional<http::Response> post_generate(RouteCall& call) { return answer(call, {kGenerate, "gen-", make_generate_format}); }

}  // namespace camshaft::server
