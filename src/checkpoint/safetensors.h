// Safetensors folders as checkpoints. Inside the room only.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"

namespace camshaft::checkpoint {

// `file` is the weight file to take where the folder has neither model.safetensors nor an index; empty: the only one there is.
Result<std::unique_ptr<Checkpoint>> open_safetensors(const std::filesystem::path& folder, const std::string& file);

}  // namespace camshaft::checkpoint
