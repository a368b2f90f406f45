// One place where a Status becomes an HTTP status and an OpenAI error body.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "server/http/message.h"

namespace camshaft::server {

// Reasons (Status::reason) that stand as `code` in the error body.
inline constexpr std::string_view kUnsupportedParameter = "unsupported_parameter";
inline constexpr std::string_view kInvalidValue = "invalid_value";
inline constexpr std::string_view kModelNotFound = "model_not_found";
inline constexpr std::string_view kUnsupportedMediaType = "unsupported_media_type";
inline constexpr std::string_view kMethodNotAllowed = "method_not_allowed";

Status unsupported_field(std::string_view field, std::string_view what);
Status invalid_field(std::string_view field, std::string_view what);

http::Response error_response(const Status& status);
http::Response error_response(const http::Refusal& refusal);
// {"error":{...}}: the body, and the payload of an event in a stream that has begun.
std::string error_body(const Status& status);

}  // namespace camshaft::server
