// strftime in UTC and the C locale.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace camshaft::text::jinja {

// The usual codes, with glibc's flags - _ 0 ^. Fails for codes that are unknown.
std::string format_time(std::string_view pattern, int64_t unix_seconds);

}  // namespace camshaft::text::jinja
