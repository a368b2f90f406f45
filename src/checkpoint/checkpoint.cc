// Finds out what a path is and opens it.
#include "checkpoint/checkpoint.h"

#include <algorithm>

#include "base/format.h"
#include "base/mapped_file.h"
#include "checkpoint/gguf.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/side_files.h"

namespace camshaft::checkpoint {
namespace {

namespace fs = std::filesystem;

enum class Kind : uint8_t { kFolder, kGguf, kSafetensors, kJson };

bool begins_with_magic(std::span<const std::byte> bytes) {
  constexpr std::byte kMagic[] = {std::byte{'G'}, std::byte{'G'}, std::byte{'U'}, std::byte{'F'}};
  return bytes.size() >= std::size(kMagic) && std::equal(std::begin(kMagic), std::end(kMagic), bytes.begin());
}

Result<Kind> kind_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return base::not_found(format("{}: no such file or folder", path.native()));
  if (fs::is_directory(status)) return Kind::kFolder;
  CS_ASSIGN_OR_RETURN(const base::MappedFile file, base::MappedFile::open(path));
  if (begins_with_magic(file.bytes()) || path.extension() == ".gguf") return Kind::kGguf;  // the reader says what is wrong with it
  if (path.extension() == ".safetensors") return Kind::kSafetensors;
  if (path.extension() == ".json") return Kind::kJson;
  return base::invalid_argument(
      format("{} is no model: it is neither a GGUF file (its first bytes are not 'GGUF'), nor a .safetensors file, "
             "nor a folder with config.json and weights",
             path.native()));
}

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

Result<Vocabulary> read_vocabulary(const Folder& folder, std::string_view tokenizer_name) {
  CS_ASSIGN_OR_RETURN(const SideFiles files, SideFiles::read(folder, tokenizer_name));
  Vocabulary vocabulary;
  CS_ASSIGN_OR_RETURN(vocabulary.tokenizer, tokenizer_of(files));
  CS_ASSIGN_OR_RETURN(vocabulary.prompt, prompt_of(files, vocabulary.tokenizer));
  return vocabulary;
}

Result<Vocabulary> read_gguf_vocabulary(const fs::path& path) {
  CS_ASSIGN_OR_RETURN(const std::unique_ptr<Checkpoint> opened, open_gguf(path));
  auto tokenizer = opened->tokenizer();
  if (!tokenizer.ok()) return std::move(tokenizer).status().with_context(path.native());
  auto prompt = opened->prompt();
  if (!prompt.ok()) return std::move(prompt).status().with_context(path.native());
  return Vocabulary{std::move(tokenizer).value(), std::move(prompt).value()};
}

Result<Vocabulary> open_any_vocabulary(const fs::path& path) {
  CS_ASSIGN_OR_RETURN(const Kind kind, kind_of(path));
  if (kind == Kind::kGguf) return read_gguf_vocabulary(path);
  CS_ASSIGN_OR_RETURN(const Folder folder, Folder::open(kind == Kind::kFolder ? path : folder_of(path)));
  return read_vocabulary(folder, kind == Kind::kJson ? path.filename().native() : "tokenizer.json");
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_checkpoint(const fs::path& path) {
  CS_ASSIGN_OR_RETURN(const Kind kind, kind_of(path));
  switch (kind) {
    case Kind::kGguf: return open_gguf(path);
    case Kind::kFolder: return open_safetensors(path, "");
    case Kind::kSafetensors: return open_safetensors(folder_of(path), path.filename().native());
    case Kind::kJson: break;
  }
  return base::invalid_argument(
      format("{} is a JSON file; give the folder that holds it, a GGUF file or a .safetensors file", path.native()));
}

Result<Vocabulary> open_vocabulary(const fs::path& path) {
  CS_ASSIGN_OR_RETURN(Vocabulary vocabulary, open_any_vocabulary(path));
  if (vocabulary.tokenizer.tokens.empty()) return base::not_found(format("{} carries no vocabulary", path.native()));
  return vocabulary;
}

}  // namespace camshaft::checkpoint
