// The cache of engines that run, serve, bench and others build from checkpoints: one build a content and set of options.
#pragma once

#include <filesystem>

#include "cli/build_engine.h"

namespace camshaft::cli {

// XDG_CACHE_HOME/camshaft, else HOME/.cache/camshaft, else a folder in the temporary one. The only environment that is read.
std::filesystem::path default_cache_folder();

// The engine file for `model`, built if need be. A key file named after path, size, time and options tells the content's hash
// without reading; on a miss the content is hashed, so a moved or touched checkpoint is not built again.
Result<std::filesystem::path> cached_engine(const std::filesystem::path& model, const BuildOptions& options,
                                            const std::filesystem::path& folder);

}  // namespace camshaft::cli
