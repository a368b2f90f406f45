#include "cli/engine_cache.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/format.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "cli/version.h"

namespace camshaft::cli {
namespace fs = std::filesystem;

fs::path default_cache_folder() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg != '\0') return fs::path(xdg) / "camshaft";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') return fs::path(home) / ".cache" / "camshaft";
  return fs::temp_directory_path() / "camshaft";
}

namespace {

std::string file_line(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  return format("{} {} {}\n", path.string(), static_cast<uint64_t>(size), static_cast<int64_t>(time));
}

// Path, size and time of the file, or of every file in the folder in order of names.
Result<std::string> identity(const fs::path& model) {
  std::error_code error;
  const fs::path path = fs::canonical(model, error);
  if (error) return base::not_found(format("'{}': {}", model.string(), error.message()));
  if (!fs::is_directory(path)) return file_line(path);
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.is_regular_file()) lines.push_back(file_line(entry.path()));
  }
  if (error) return base::io_error(format("cannot list '{}'", path.string()), error.value());
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

std::string key_of(const std::string& what, const std::string& options) {
  base::Hasher hasher;
  hasher.update(what);
  hasher.update("\n");
  hasher.update(options);
  hasher.update("\n");
  hasher.update(format("{} {}", kVersion, engine::kFormatVersion));
  return hasher.digest().to_hex();
}

Status write_small_file(const fs::path& path, const std::string& text) {
  CS_ASSIGN_OR_RETURN(base::AtomicFileWriter writer, base::AtomicFileWriter::create(path));
  CS_RETURN_IF_ERROR(writer.write(std::as_bytes(std::span(text.data(), text.size()))));
  return writer.commit();
}

}  // namespace

Result<fs::path> cached_engine(const fs::path& model, const BuildOptions& options, const fs::path& folder) {
  CS_ASSIGN_OR_RETURN(const compiler::CompileOptions resolved, resolve_build(options));
  CS_ASSIGN_OR_RETURN(const std::string what, identity(model));
  const std::string option_text = canonical_text(resolved);
  const fs::path key_file = folder / (key_of(what, option_text) + ".key");
  if (const auto known = base::read_text_file(key_file, 4096); known.ok()) {
    // A key file names a file of this folder and nothing else.
    const fs::path engine = fs::path(*known).filename();
    if (engine == *known && engine.extension() == ".engine" && fs::exists(folder / engine)) return folder / engine;
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return base::io_error(format("cannot create the engine cache '{}'", folder.string()), error.value());
  CS_ASSIGN_OR_RETURN(const auto checkpoint, checkpoint::open_checkpoint(model));
  const std::string name = key_of(checkpoint->content_hash().to_hex(), option_text) + ".engine";
  if (!fs::exists(folder / name)) {
    std::fprintf(stderr, "building an engine for '%s' (kept in '%s')\n", model.c_str(), folder.c_str());
    CS_ASSIGN_OR_RETURN(const BuildSummary summary,
                        build_engine(model, resolved, folder / name, static_cast<int>(options.threads), progress_bar()));
    std::fprintf(stderr, "built in %.2f s\n", summary.seconds);
  }
  CS_RETURN_IF_ERROR(write_small_file(key_file, name));
  return folder / name;
}

}  // namespace camshaft::cli
