// The families, each defined in its own file and listed in list.cc.
#pragma once

#include "models/model.h"

namespace camshaft::models {

extern const ModelFamily kLlama, kQwen2;

}  // namespace camshaft::models
