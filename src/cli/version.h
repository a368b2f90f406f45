#pragma once

#include <string_view>

namespace camshaft::cli {
inline constexpr std::string_view kVersion = CAMSHAFT_VERSION;
}
