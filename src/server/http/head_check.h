// What a request head must look like before the library may see it: line endings, control characters, sizes, and the fields that
// decide where a body ends (RFC 9112, sections 2, 3, 5 and 6). Two readers of one head must never disagree about its length.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "server/http/message.h"

namespace camshaft::server::http {

struct HeadLimits {
  size_t request_line = 8 << 10;   // bytes, without the line ending
  size_t header_bytes = 64 << 10;  // of all header lines
  size_t header_lines = 100;
};

// Finds the end of a head in bytes that come in pieces.
class HeadScanner {
 public:
  explicit HeadScanner(const HeadLimits& limits) : limits_(limits) {}
  // Looks at what is new in `buffer` (which only grows) and stops behind the head.
  std::optional<Refusal> scan(std::string_view buffer);
  bool done() const { return done_; }
  // With done(): the head without an empty line before it, with the empty line behind it.
  std::string_view head(std::string_view buffer) const { return buffer.substr(begin_, position_ - begin_); }
  size_t end() const { return position_; }

 private:
  std::optional<Refusal> take(char c);
  std::optional<Refusal> end_line();

  HeadLimits limits_;
  size_t position_ = 0;
  size_t begin_ = 0;  // behind an empty line that an old client may send before its request
  size_t lines_ = 0;
  size_t line_bytes_ = 0;
  size_t header_bytes_ = 0;
  bool after_cr_ = false;
  bool done_ = false;
};

// Checks the lines of a whole head.
std::optional<Refusal> check_head(std::string_view head);

}  // namespace camshaft::server::http
