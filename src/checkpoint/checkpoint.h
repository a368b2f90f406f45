// Checkpoint: a model as its files have it: named tensors as views over mapped bytes, configuration as JSON-like values,
// vocabulary. First stage of the build road: files > Checkpoint > ModelConfig + Graph.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/tokenizer_spec.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/status.h"
#include "tensor/tensor_view.h"

namespace camshaft::checkpoint {

enum class Source : uint8_t { kGguf, kSafetensors };

struct NamedTensor {
  std::string name;         // as in the file
  tensor::TensorView view;  // shape outermost first (GGUF's reversed order is already turned round)
};

class Checkpoint {
 public:
  virtual ~Checkpoint() = default;
  virtual Source source() const = 0;
  // In file order.
  virtual const std::vector<NamedTensor>& tensors() const = 0;
  // nullptr where there is none.
  virtual const NamedTensor* find(std::string_view name) const = 0;
  // GGUF: every metadata pair under its key ("llama.block_count"), except the vocabulary arrays.
  // Safetensors: config.json as it is.
  virtual const Json& config() const = 0;
  // Display name: general.name, else _name_or_path, else the folder's or file's stem.
  virtual const std::string& name() const = 0;
  // Empty when the files carry no vocabulary we know; an error names what is wrong with a vocabulary that is there.
  virtual Result<api::TokenizerSpec> tokenizer() const = 0;
  virtual Result<api::PromptSpec> prompt() const = 0;
  // Hash over everything that decides the build (all tensor bytes, metadata, side files). Reads the files once; cached.
  virtual base::Hash128 content_hash() const = 0;
  // Lets go of resident pages of one tensor after it was copied. Safe at any time: the bytes come back from the file.
  virtual void drop_pages(const NamedTensor& tensor) const = 0;
};

// A GGUF file (magic decides, not the name), or a folder with config.json and *.safetensors; a single .safetensors file stands for
// its folder. Errors: not_found, data_loss (naming field and byte), unimplemented (naming type or architecture).
Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::filesystem::path& path);

// Only vocabulary and prompt format: also a folder with just tokenizer.json, or a GGUF without tensors.
struct Vocabulary {
  api::TokenizerSpec tokenizer;
  api::PromptSpec prompt;
};
Result<Vocabulary> open_vocabulary(const std::filesystem::path& path);

// Fuzz and test doors: the same readers over bytes.
Result<std::unique_ptr<Checkpoint>> read_gguf(std::span<const std::byte> bytes, std::string name);
Result<std::vector<NamedTensor>> read_safetensors_header(std::span<const std::byte> bytes, std::string_view name);
// tokenizer.json (+ tokenizer_config.json, which may be empty) to a spec.
Result<api::TokenizerSpec> read_tokenizer_json(std::string_view tokenizer_json, std::string_view tokenizer_config_json);

}  // namespace camshaft::checkpoint
