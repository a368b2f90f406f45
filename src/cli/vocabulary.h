// Vocabulary and prompt format of anything that has them: checkpoint, tokenizer.json, engine.
#pragma once

#include <string>

#include "base/status.h"
#include "checkpoint/checkpoint.h"

namespace camshaft::cli {

// Whether it is an engine rather than a checkpoint. A file whose name ends in .engine is one, be it empty.
Result<bool> names_engine(const std::string& model);

Result<checkpoint::Vocabulary> read_vocabulary(const std::string& model);

}  // namespace camshaft::cli
