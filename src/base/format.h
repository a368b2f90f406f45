// format("{} of {}", a, b): the project's one formatting call. The library behind it (fmt) is seen only in format.cc.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

namespace camshaft::base {

using FormatArg = std::variant<bool, char, int64_t, uint64_t, double, std::string_view>;

// fmt syntax ("{}", "{:>8.2f}", "{:#x}"). A malformed pattern is our own mistake: the pattern itself comes back.
std::string format_args(std::string_view pattern, std::span<const FormatArg> args);

template <typename T>
FormatArg to_format_arg(const T& value) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char>) {
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<int64_t>(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<uint64_t>(value);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(value);
  } else {
    return std::string_view(value);
  }
}

template <typename... Args>
std::string format(std::string_view pattern, const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return format_args(pattern, {});
  } else {
    const FormatArg packed[] = {to_format_arg(args)...};
    return format_args(pattern, packed);
  }
}

}  // namespace camshaft::base

namespace camshaft {
using base::format;
}
