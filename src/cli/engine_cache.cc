#include "cli/engine_cache.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/format.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "cli/version.h"

namespace camshaft::cli {
namespace fs = std::filesystem;

namespace {

// Relative ones are ignored: the cache would move with the working folder.
fs::path absolute_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  const fs::path path = value != nullptr ? value : "";
  return path.is_absolute() ? path : fs::path();
}

fs::path home_of_user() {
  std::vector<char> memory(16384);
  passwd entry;
  passwd* found = nullptr;
  if (getpwuid_r(geteuid(), &entry, memory.data(), memory.size(), &found) != 0 || found == nullptr) return {};
  return fs::path(found->pw_dir).is_absolute() ? fs::path(found->pw_dir) : fs::path();
}

}  // namespace

fs::path default_cache_folder() {
  if (const fs::path cache = absolute_from_environment("XDG_CACHE_HOME"); !cache.empty()) return cache / "camshaft";
  fs::path home = absolute_from_environment("HOME");
  if (home.empty()) home = home_of_user();
  return home.empty() ? home : home / ".cache" / "camshaft";
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
  if (!fs::is_directory(path, error)) return file_line(path);
  std::vector<std::string> lines;
  for (auto entry = fs::directory_iterator(path, error); !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone)) lines.push_back(file_line(entry->path()));
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

// Before the work of a build, not after it.
Status make_writable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return base::io_error(format("cannot create the engine cache '{}'", folder.string()), error.value())
        .with_reason(kCacheUnusable);
  }
  const auto probe = base::AtomicFileWriter::create(folder / "probe");
  if (probe.ok()) return base::ok_status();
  return probe.status().with_context("the engine cache").with_reason(kCacheUnusable);
}

Status build_into(const fs::path& folder, const fs::path& model, const compiler::CompileOptions& options, int threads,
                  const std::string& name) {
  std::fprintf(stderr, "building an engine for '%s' (kept in '%s')\n", model.c_str(), folder.c_str());
  auto built = build_engine(model, options, folder / name, threads, progress_bar());
  if (!built.ok()) {
    return std::move(built).status().with_context(format("building into '{}' (--cache names another folder)", folder.string()));
  }
  std::fprintf(stderr, "built in %.2f s\n", built->seconds);
  return base::ok_status();
}

// Whether the file is at fault, and not this machine: another build would be bound to the same target.
bool rebuilding_helps(const fs::path& engine, const Status& refusal, const engine::Target& machine) {
  if (refusal.code() == Code::kResourceExhausted) return false;
  const auto opened = engine::Engine::open_meta(engine);
  return !opened.ok() || engine::check_target((*opened)->meta().fingerprint, machine).ok();
}

class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code error;
    fs::path parent = fs::temp_directory_path(error);
    if (error) parent = "/tmp";
    std::string name = (parent / "camshaft-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      return base::io_error(format("cannot create '{}' either; name a folder that can be written with --cache", name), errno);
    }
    return TemporaryFolder(name);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

// Loaded weights are in memory or mapped, so the file may go at once.
Result<std::unique_ptr<engine::Engine>> load_unkept(const fs::path& model, const BuildOptions& options,
                                                    const engine::LoadOptions& load, const Status& why) {
  std::fprintf(stderr, "warning: %s; the engine is built for this run alone: name a folder that can be written with --cache\n",
               why.message().c_str());
  CS_ASSIGN_OR_RETURN(const compiler::CompileOptions resolved, resolve_build(options));
  CS_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::make());
  const fs::path engine = folder.path() / "unkept.engine";
  CS_ASSIGN_OR_RETURN(const BuildSummary summary,
                      build_engine(model, resolved, engine, static_cast<int>(options.threads), progress_bar()));
  std::fprintf(stderr, "built in %.2f s\n", summary.seconds);
  return engine::Engine::load(engine, load);
}

// In place of the refused one, under its name: a process that reads the old file keeps it.
Status rebuild(const fs::path& model, const BuildOptions& options, const fs::path& engine) {
  CS_RETURN_IF_ERROR(make_writable(engine.parent_path()));
  CS_ASSIGN_OR_RETURN(const compiler::CompileOptions resolved, resolve_build(options));
  return build_into(engine.parent_path(), model, resolved, static_cast<int>(options.threads), engine.filename());
}

}  // namespace

Result<fs::path> cached_engine(const fs::path& model, const BuildOptions& options, const fs::path& folder) {
  CS_ASSIGN_OR_RETURN(const compiler::CompileOptions resolved, resolve_build(options));
  CS_ASSIGN_OR_RETURN(const std::string what, identity(model));
  if (folder.empty()) {
    return base::failed_precondition("there is no folder for the engine cache, neither XDG_CACHE_HOME nor HOME is set")
        .with_reason(kCacheUnusable);
  }
  const std::string option_text = canonical_text(resolved);
  const fs::path key_file = folder / (key_of(what, option_text) + ".key");
  std::error_code ignored;
  if (const auto known = base::read_text_file(key_file, 4096); known.ok()) {
    // A key file names a file of this folder and nothing else.
    const fs::path engine = fs::path(*known).filename();
    if (engine == *known && engine.extension() == ".engine" && fs::exists(folder / engine, ignored)) return folder / engine;
  }
  CS_ASSIGN_OR_RETURN(const auto checkpoint, checkpoint::open_checkpoint(model));
  const std::string name = key_of(checkpoint->content_hash().to_hex(), option_text) + ".engine";
  if (!fs::exists(folder / name, ignored)) {
    CS_RETURN_IF_ERROR(make_writable(folder));
    CS_RETURN_IF_ERROR(build_into(folder, model, resolved, static_cast<int>(options.threads), name));
  }
  // Only spares the next start the hashing: a cache that is complete and cannot be written serves as well.
  [[maybe_unused]] const Status spared = write_small_file(key_file, name);
  return folder / name;
}

Result<std::unique_ptr<engine::Engine>> load_cached_engine(const fs::path& model, const BuildOptions& options,
                                                           const fs::path& folder, const engine::LoadOptions& load) {
  const auto path = cached_engine(model, options, folder);
  if (!path.ok()) {
    if (path.status().reason() == kCacheUnusable) return load_unkept(model, options, load, path.status());
    return path.status();
  }
  auto engine = engine::Engine::load(*path, load);
  if (engine.ok() || !rebuilding_helps(*path, engine.status(), load.machine)) return engine;
  std::fprintf(stderr, "warning: an engine in the cache is refused and is built again: %s\n", engine.status().message().c_str());
  const Status rebuilt = rebuild(model, options, *path);
  if (rebuilt.ok()) return engine::Engine::load(*path, load);
  if (rebuilt.reason() == kCacheUnusable) return load_unkept(model, options, load, rebuilt);
  return rebuilt;
}

}  // namespace camshaft::cli
