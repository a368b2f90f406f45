#include "base/status.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace camshaft::base {

std::string_view code_name(Code code) {
  switch (code) {
    case Code::kOk: return "ok";
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kNotFound: return "not found";
    case Code::kFailedPrecondition: return "failed precondition";
    case Code::kDataLoss: return "data loss";
    case Code::kResourceExhausted: return "resource exhausted";
    case Code::kUnavailable: return "unavailable";
    case Code::kDeadlineExceeded: return "deadline exceeded";
    case Code::kCancelled: return "cancelled";
    case Code::kUnimplemented: return "unimplemented";
    case Code::kIo: return "input/output";
    case Code::kInternal: return "internal";
  }
  return "unknown";
}

Status&& Status::with_context(std::string_view context) && {
  message_ = std::string(context) + ": " + message_;
  return std::move(*this);
}

std::string Status::to_string() const { return std::string(code_name(code_)) + ": " + message_; }

Status invalid_argument(std::string message) { return Status(Code::kInvalidArgument, std::move(message)); }
Status not_found(std::string message) { return Status(Code::kNotFound, std::move(message)); }
Status failed_precondition(std::string message) { return Status(Code::kFailedPrecondition, std::move(message)); }
Status data_loss(std::string message) { return Status(Code::kDataLoss, std::move(message)); }
Status resource_exhausted(std::string message) { return Status(Code::kResourceExhausted, std::move(message)); }
Status unavailable(std::string message) { return Status(Code::kUnavailable, std::move(message)); }
Status unimplemented(std::string message) { return Status(Code::kUnimplemented, std::move(message)); }
Status internal_error(std::string message) { return Status(Code::kInternal, std::move(message)); }

Status io_error(std::string message, int error_number) {
  return Status(Code::kIo, std::move(message) + ": " + std::strerror(error_number));
}

void check_failed(const char* condition, const char* file, int line, std::string_view message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %.*s\n", file, line, condition, static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace camshaft::base
