// Failure: how an error travels inside the template interpreter. Thrown here, caught at ChatTemplate's door, never beyond:
// an interpreter whose every line tests a status cannot be read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/status.h"

namespace camshaft::text::jinja {

// From 1; columns count bytes. Line 0: nowhere in particular.
struct Position {
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Failure {
  Status status;
  Position position;  // line 0: the interpreter's current place is filled in
};

[[noreturn]] inline void fail(std::string message) { throw Failure{base::invalid_argument(std::move(message)), {}}; }
[[noreturn]] inline void fail_at(Position position, std::string message) {
  throw Failure{base::invalid_argument(std::move(message)), position};
}
// A limit of the interpreter was passed: names it and its value.
[[noreturn]] inline void fail_limit(std::string_view what, uint64_t limit, std::string_view unit) {
  throw Failure{base::resource_exhausted(format(
                    "template passes the limit of {}: {} {}; simplify the template or shorten its input", what, limit, unit)),
                {}};
}

}  // namespace camshaft::text::jinja
