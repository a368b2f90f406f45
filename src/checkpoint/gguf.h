// GGUF checkpoints over mapped files. Inside the room only.
#pragma once

#include <filesystem>
#include <memory>

#include "checkpoint/checkpoint.h"

namespace camshaft::checkpoint {

// The file begins with GGUF's magic; a first part ("-00001-of-0000N.gguf") brings its other parts along.
Result<std::unique_ptr<Checkpoint>> open_gguf(const std::filesystem::path& path);

}  // namespace camshaft::checkpoint
