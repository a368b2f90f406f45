// Opens files beneath a folder's handle, so that no name inside model data can lead out of it.
#include "checkpoint/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/format.h"

namespace camshaft::checkpoint {
namespace {

constexpr size_t kMaxListed = 100'000;
constexpr int kMaxLinks = 8;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.size() <= 255 && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

// What a link in the folder points to; empty where it leads out of the folder or is no link.
std::string link_target(int folder, const std::string& name) {
  char buffer[256];
  const ssize_t size = readlinkat(folder, name.c_str(), buffer, sizeof(buffer));
  std::string target(buffer, size > 0 ? static_cast<size_t>(size) : 0);
  if (target.starts_with("./")) target.erase(0, 2);
  return is_plain_name(target) ? target : "";
}

}  // namespace

Result<Folder> Folder::open(const std::filesystem::path& path) {
  const int handle = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle < 0 && errno == ENOENT) return base::not_found(format("{}: no such folder", path.native()));
  if (handle < 0) return base::io_error(format("cannot open the folder {}", path.native()), errno);
  return Folder(path, handle);
}

Folder::Folder(Folder&& other) noexcept : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, -1)) {}

Folder::~Folder() {
  if (handle_ >= 0) close(handle_);
}

Result<base::MappedFile> Folder::map(std::string_view name) const {
  if (!is_plain_name(name)) {
    return base::data_loss(format("{}: '{}' is no plain file name; files of a model stand in its folder", path_.native(), name));
  }
  std::string current(name);
  for (int links = 0; links <= kMaxLinks; ++links) {
    const int descriptor = openat(handle_, current.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor >= 0) {
      auto mapped = base::MappedFile::map(descriptor, path_ / name);
      close(descriptor);
      return mapped;
    }
    if (errno == ENOENT) return base::not_found(format("{}: no such file", (path_ / name).native()));
    if (errno != ELOOP) return base::io_error(format("cannot open {}", (path_ / name).native()), errno);
    current = link_target(handle_, current);
    if (current.empty()) {
      return base::failed_precondition(
          format("{} is a symbolic link that leads out of its folder; put the file itself there", (path_ / name).native()));
    }
  }
  return base::failed_precondition(format("{} goes through more than {} symbolic links", (path_ / name).native(), kMaxLinks));
}

Result<std::optional<std::string>> Folder::read(std::string_view name, uint64_t max_bytes) const {
  auto mapped = map(name);
  if (!mapped.ok() && mapped.status().code() == Code::kNotFound) return std::optional<std::string>();
  if (!mapped.ok()) return std::move(mapped).status();
  const auto bytes = mapped->bytes();
  if (bytes.size() > max_bytes) {
    return base::resource_exhausted(format("{} has {} bytes, the limit is {}", (path_ / name).native(), bytes.size(), max_bytes));
  }
  return std::optional<std::string>(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<std::optional<Json>> Folder::read_json(std::string_view name, uint64_t max_bytes) const {
  CS_ASSIGN_OR_RETURN(const std::optional<std::string> text, read(name, max_bytes));
  if (!text) return std::optional<Json>();
  auto parsed = base::parse_json(*text, {.max_bytes = max_bytes});
  if (!parsed.ok()) return std::move(parsed).status().with_context((path_ / name).native());
  if (!parsed->is_object()) {
    return base::data_loss(
        format("{} holds a JSON value of type {}, an object is expected", (path_ / name).native(), parsed->kind_name()));
  }
  return std::optional<Json>(std::move(parsed).value());
}

Result<std::vector<std::string>> Folder::list(std::string_view suffix) const {
  const int again = openat(handle_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);  // closedir() below closes it
  DIR* entries = again < 0 ? nullptr : fdopendir(again);
  if (entries == nullptr) return base::io_error(format("cannot list the folder {}", path_.native()), errno);
  std::vector<std::string> names;
  size_t seen = 0;
  while (const dirent* entry = readdir(entries)) {
    if (++seen > kMaxListed) break;
    const std::string_view name = entry->d_name;
    if (name.size() > suffix.size() && name.ends_with(suffix)) names.emplace_back(name);
  }
  closedir(entries);
  if (seen > kMaxListed) return base::resource_exhausted(format("{} has more than {} entries", path_.native(), kMaxListed));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace camshaft::checkpoint
