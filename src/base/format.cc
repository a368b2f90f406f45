// Owner of fmt.
#include "base/format.h"

#define FMT_HEADER_ONLY
#include <fmt/args.h>
#include <fmt/format.h>

namespace camshaft::base {

std::string format_args(std::string_view pattern, std::span<const FormatArg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  store.reserve(args.size(), 0);
  for (const FormatArg& arg : args) {
    std::visit([&store](const auto& value) { store.push_back(value); }, arg);
  }
  try {
    return fmt::vformat(fmt::string_view(pattern.data(), pattern.size()), store);
  } catch (const fmt::format_error&) {
    return std::string(pattern);
  }
}

}  // namespace camshaft::base
