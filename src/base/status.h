// Status and Result<T>: what every door returns. Nothing is thrown across rooms.
// A message names the thing, the two values that disagree and what to do about it; context is added on the way up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace camshaft::base {

// Canonical codes. The server maps them to HTTP and gRPC in one file, the command line to exit codes.
enum class Code : uint8_t {
  kOk,
  kInvalidArgument,     // the caller's value is wrong: request field, flag, shape
  kNotFound,            // no such file, model, tensor, route
  kFailedPrecondition,  // valid, but not acceptable here: engine of another target, missing device
  kDataLoss,            // a file is cut, flipped or inconsistent
  kResourceExhausted,   // a limit was passed: size, count, depth, memory
  kUnavailable,         // try again later: queue full, draining, loading
  kDeadlineExceeded,
  kCancelled,
  kUnimplemented,  // known, named, not supported
  kIo,             // the operating system said no
  kInternal,       // our own mistake
};

std::string_view code_name(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  // The request field (dotted path) or file part the error is about; empty where there is none.
  const std::string& subject() const { return subject_; }
  Status&& with_subject(std::string subject) && {
    subject_ = std::move(subject);
    return std::move(*this);
  }
  // A machine-readable reason within the code, for instance "context_length_exceeded"; empty where there is none.
  const std::string& reason() const { return reason_; }
  Status&& with_reason(std::string reason) && {
    reason_ = std::move(reason);
    return std::move(*this);
  }
  // Puts "context: " in front of the message. Keeps code, subject and reason.
  Status&& with_context(std::string_view context) &&;

  // "code: message", for logs and the command line.
  std::string to_string() const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
  std::string subject_;
  std::string reason_;
};

// A value or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }

  Status status() const& { return ok() ? Status() : std::get<1>(state_); }
  Status status() && { return ok() ? Status() : std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Status> state_;
};

inline Status ok_status() { return Status(); }
Status invalid_argument(std::string message);
Status not_found(std::string message);
Status failed_precondition(std::string message);
Status data_loss(std::string message);
Status resource_exhausted(std::string message);
Status unavailable(std::string message);
Status unimplemented(std::string message);
Status internal_error(std::string message);
// Appends strerror(error_number).
Status io_error(std::string message, int error_number);

// Ends the process with the message. Only for our own mistakes (CS_CHECK).
[[noreturn]] void check_failed(const char* condition, const char* file, int line, std::string_view message);

}  // namespace camshaft::base

namespace camshaft {
using base::Code;
using base::Result;
using base::Status;
}  // namespace camshaft

#define CS_CONCAT_INNER(a, b) a##b
#define CS_CONCAT(a, b) CS_CONCAT_INNER(a, b)

// For our own mistakes: never reachable by a file, a request or a flag.
#define CS_CHECK(condition, message)                                             \
  do {                                                                           \
    if (!(condition)) [[unlikely]]                                               \
      ::camshaft::base::check_failed(#condition, __FILE__, __LINE__, (message)); \
  } while (false)

#define CS_RETURN_IF_ERROR(expression)           \
  do {                                           \
    ::camshaft::Status cs_status = (expression); \
    if (!cs_status.ok()) [[unlikely]]            \
      return cs_status;                          \
  } while (false)

// CS_ASSIGN_OR_RETURN(auto x, f()): x = value of f(), or returns its status.
#define CS_ASSIGN_OR_RETURN(target, expression) CS_ASSIGN_OR_RETURN_INNER(CS_CONCAT(cs_result_, __LINE__), target, expression)
#define CS_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) [[unlikely]]                              \
    return std::move(result).status();                        \
  target = std::move(result).value()
