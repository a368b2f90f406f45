// Vocabulary and prompt format of anything that has them: checkpoint, tokenizer.json, engine.
#pragma once

#include <string>

#include "base/status.h"
#include "checkpoint/checkpoint.h"

namespace camshaft::cli {

Result<checkpoint::Vocabulary> read_vocabulary(const std::string& model);

}  // namespace camshaft::cli
