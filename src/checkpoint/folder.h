// A model's folder: its files are opened beneath one handle, by plain names only. Inside the room only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/mapped_file.h"
#include "base/status.h"

namespace camshaft::checkpoint {

class Folder {
 public:
  static Result<Folder> open(const std::filesystem::path& path);

  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  const std::filesystem::path& path() const { return path_; }
  // A plain file name: no '/', no "..", not empty. A symbolic link is followed when its target is a plain name too, so that it
  // stays in the folder. not_found where there is none.
  Result<base::MappedFile> map(std::string_view name) const;
  // Whole text of a side file; nothing where it is absent.
  Result<std::optional<std::string>> read(std::string_view name, uint64_t max_bytes) const;
  // The same, parsed: an object.
  Result<std::optional<Json>> read_json(std::string_view name, uint64_t max_bytes) const;
  // Names ending in `suffix`, sorted.
  Result<std::vector<std::string>> list(std::string_view suffix) const;

 private:
  Folder(std::filesystem::path path, int handle) : path_(std::move(path)), handle_(handle) {}

  std::filesystem::path path_;
  int handle_ = -1;
};

}  // namespace camshaft::checkpoint
