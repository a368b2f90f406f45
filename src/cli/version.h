// The version of this build, as the project says it.
#pragma once

#include <string_view>

namespace camshaft::cli {
extern const std::string_view kVersion;
}
