#include "cli/version.h"

namespace camshaft::cli {
const std::string_view kVersion = CAMSHAFT_VERSION;
}
