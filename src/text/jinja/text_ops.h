// Operations on strings that methods and filters share. Results keep each byte's origin.
#pragma once

#include <vector>

#include "text/jinja/value.h"

namespace camshaft::text::jinja {

enum class Case : uint8_t { kLower, kUpper, kTitle, kCapital, kSwap };
const Str* change_case(Heap& heap, const Str* text, Case to);

enum class Side : uint8_t { kLeft, kRight, kBoth };
// `chars` null: white space.
const Str* strip(Heap& heap, const Str* text, const Str* chars, Side side);
// The first `count` occurrences, all when negative.
const Str* replace(Heap& heap, const Str* text, const Str* from, const Str* to, int64_t count);
// `separator` null: runs of white space. At most `count` cuts, from the left or the right; any number when negative.
std::vector<Value> split(Heap& heap, const Str* text, const Str* separator, int64_t count, Side from);
std::vector<Value> split_lines(Heap& heap, const Str* text, bool keep_ends);
const Str* join(Heap& heap, const Str* separator, const std::vector<Value>& items);
const Str* pad(Heap& heap, const Str* text, int64_t width, const Str* fill, Side side);
std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends);

}  // namespace camshaft::text::jinja
