// Options: each is defined once, in the table beside the struct it fills; parsing, --help and docs/options.md come from there.
// The library reads no environment; cli maps argv onto these tables (cli/args owns CLI11).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"

namespace camshaft::base {

// What an option's text may be. Ranges are inclusive.
struct IntRange {
  int64_t min;
  int64_t max;
};
struct DoubleRange {
  double min;
  double max;
};
// Bytes: a number with an optional suffix K, M, G (powers of 1024).
struct ByteRange {
  uint64_t min;
  uint64_t max;
};
struct Choice {
  std::vector<std::string> values;
};
struct Text {
  std::string placeholder;  // "FILE", "HOST"
};
struct Flag {};
using OptionKind = std::variant<Flag, IntRange, DoubleRange, ByteRange, Choice, Text>;

// One line of a table. `name` without dashes is also the configuration key. `target` lies in the struct being filled.
struct Option {
  std::string name;
  OptionKind kind;
  std::string default_text;  // as a user would write it; "" means none
  std::string help;          // one sentence, units included
  std::variant<bool*, int64_t*, double*, uint64_t*, std::string*> target;
};

// Checks `text` against the kind and stores it: bool* for Flag, int64_t* IntRange, double* DoubleRange, uint64_t* ByteRange,
// std::string* Choice and Text. Errors name the option, the value and the allowed range or choices.
Status set_option(const Option& option, std::string_view text);
// Stores every default of the table.
Status set_defaults(std::span<const Option> options);
// "1..64", "a|b|c", "FILE": for help and the generated page.
std::string allowed_text(const OptionKind& kind);
Result<uint64_t> parse_bytes(std::string_view text);
std::string bytes_text(uint64_t bytes);

}  // namespace camshaft::base
