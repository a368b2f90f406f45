// The cache of engines that run, serve, bench and others build from checkpoints: one build a content and set of options.
#pragma once

#include <filesystem>

#include "cli/build_engine.h"
#include "engine/engine.h"

namespace camshaft::cli {

// XDG_CACHE_HOME/camshaft, else HOME/.cache/camshaft, else the same in the user's home by the password file; empty where there is
// none. (Never a folder in the shared temporary one: another user could put engines there.) The only environment that is read.
std::filesystem::path default_cache_folder();

// The engine file for `model`, built if need be. A key file named after path, size, time and options tells the content's hash
// without reading; on a miss the content is hashed, so a moved or touched checkpoint is not built again.
// A folder that nothing can be written to is an error with the reason kCacheUnusable.
inline constexpr const char* kCacheUnusable = "cache_unusable";
Result<std::filesystem::path> cached_engine(const std::filesystem::path& model, const BuildOptions& options,
                                            const std::filesystem::path& folder);

// The same, loaded. What the cache holds is ours, so a file there that is damaged, cut or of another version is reported on
// standard error and built again; without a usable folder the engine is built for this process alone, which is reported too.
Result<std::unique_ptr<engine::Engine>> load_cached_engine(const std::filesystem::path& model, const BuildOptions& options,
                                                           const std::filesystem::path& folder, const engine::LoadOptions& load);

}  // namespace camshaft::cli
