// Names of models as clients say them: 1 to 128 letters, digits, '.', '-' and '_', not beginning with '.'.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace camshaft::cli {

Status check_model_id(std::string_view id);
// The nearest such name to a checkpoint's: '-' for what else is in it, once for several.
std::string model_id_of(std::string_view name);

}  // namespace camshaft::cli
