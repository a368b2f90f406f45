// Values as text, the way Python shows them: str(), repr(), JSON, and the two formatting languages.
#pragma once

#include <optional>
#include <string>

#include "text/jinja/value.h"

namespace camshaft::text::jinja {

struct Call;

// str(value): what {{ value }} prints.
const Str* to_str(Heap& heap, Value value);
// repr(value): inside containers.
std::string to_repr(Heap& heap, Value value);
// Content when anything inside is.
Origin deep_origin(Heap& heap, Value value);
// The shortest text that reads back, with Python's choice between 0.0001 and 1e-05.
std::string float_repr(double value);
// Exactly `digits` behind the point, ties to even of the exact value.
std::string float_fixed(double value, int digits);

struct JsonStyle {
  std::optional<std::string> indent;  // one level's text; none: one line
  bool ascii = false;
  bool sort_keys = false;
  std::string item_separator = ", ";  // "," with indent
  std::string key_separator = ": ";
};
// json.dumps(); fails for what JSON has no form for.
std::string to_json(Heap& heap, Value value, const JsonStyle& style);

// "%s" % value.
Value percent_format(Heap& heap, Value pattern, Value value);
// "{}".format(...).
Value brace_format(Heap& heap, Value pattern, const Call& call);

// One number or string by a format specification: [[fill]align][sign][#][0][width][,][.precision][type].
struct FormatSpec {
  std::string fill = " ";
  char align = 0;  // < > ^ =
  char sign = '-';
  bool alternate = false;
  char grouping = 0;
  uint64_t width = 0;
  int precision = -1;
  char type = 0;
};
FormatSpec parse_format_spec(std::string_view text);
void append_formatted(Heap& heap, StrBuilder& out, Value value, const FormatSpec& spec);

}  // namespace camshaft::text::jinja
