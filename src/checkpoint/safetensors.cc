// A folder with config.json and one safetensors file, or several with an index, as a Checkpoint.
#include "checkpoint/safetensors.h"

#include <map>
#include <mutex>
#include <unordered_map>

#include "base/format.h"
#include "checkpoint/content.h"
#include "checkpoint/layout.h"
#include "checkpoint/side_files.h"
#include "checkpoint/tensor_table.h"

namespace camshaft::checkpoint {
namespace {

constexpr std::string_view kSingle = "model.safetensors", kIndex = "model.safetensors.index.json";
constexpr size_t kMaxShards = 10'000;

struct Weights {
  std::vector<base::MappedFile> files;
  std::vector<NamedTensor> tensors;
};

std::string display_name(const Json& config, const std::filesystem::path& folder) {
  const Json* name = config.find("_name_or_path");
  if (name != nullptr && name->is_string() && !name->as_string().empty()) return name->as_string();
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(folder, error).lexically_normal();
  return absolute.has_filename() ? absolute.filename().native() : absolute.parent_path().filename().native();
}

class SafetensorsCheckpoint : public Checkpoint {
 public:
  SafetensorsCheckpoint(std::string name, Json config, SideFiles side, Weights weights)
      : name_(std::move(name)),
        config_(std::move(config)),
        side_(std::move(side)),
        files_(std::move(weights.files)),
        tensors_(std::move(weights.tensors)) {}

  Source source() const override { return Source::kSafetensors; }
  const std::vector<NamedTensor>& tensors() const override { return tensors_.all(); }
  const NamedTensor* find(std::string_view name) const override { return tensors_.find(name); }
  const Json& config() const override { return config_; }
  const std::string& name() const override { return name_; }
  Result<api::TokenizerSpec> tokenizer() const override { return tokenizer_of(side_); }
  Result<api::PromptSpec> prompt() const override {
    CS_ASSIGN_OR_RETURN(const api::TokenizerSpec spec, tokenizer());
    return prompt_of(side_, spec);
  }
  base::Hash128 content_hash() const override {
    std::call_once(hash_once_, [this] {
      base::Hasher hasher;
      side_.hash(hasher);
      for (const base::MappedFile& file : files_) hash_file(hasher, file);
      hash_ = hasher.digest();
    });
    return hash_;
  }
  void drop_pages(const NamedTensor& tensor) const override {
    for (const base::MappedFile& file : files_) drop_pages_of(file, tensor.view.bytes);
  }

 private:
  std::string name_;
  Json config_;
  SideFiles side_;
  std::vector<base::MappedFile> files_;
  TensorTable tensors_;
  mutable std::once_flag hash_once_;
  mutable base::Hash128 hash_;
};

Result<std::vector<NamedTensor>> read_header(const base::MappedFile& file) {
  return read_safetensors_header(file.bytes(), file.path().native());
}

Result<Weights> open_single(const Folder& folder, std::string_view name) {
  Weights weights;
  CS_ASSIGN_OR_RETURN(base::MappedFile file, folder.map(name));
  CS_ASSIGN_OR_RETURN(weights.tensors, read_header(file));
  weights.files.push_back(std::move(file));
  return weights;
}

// Tensor name to shard file name.
using WeightMap = std::unordered_map<std::string_view, std::string_view>;

Result<WeightMap> parse_weight_map(const Json& index, std::string_view what) {
  const Json* map = index.find("weight_map");
  if (map == nullptr || !map->is_object()) return base::data_loss(format("{}: the object 'weight_map' is missing", what));
  if (map->as_object().size() > kMaxTensors) {
    return base::resource_exhausted(format("{} names {} tensors, the limit is {}", what, map->as_object().size(), kMaxTensors));
  }
  WeightMap shard_of;
  for (const auto& [tensor, file] : map->as_object()) {
    if (!file.is_string()) {
      return base::data_loss(
          format("{}: weight_map of '{}' is of type {}, a file name is expected", what, tensor, file.kind_name()));
    }
    shard_of.emplace(tensor, file.as_string());
  }
  return shard_of;
}

// The shard's tensors must be just those that the index puts there.
Status add_shard(const Folder& folder, std::string_view shard, WeightMap& waiting, const WeightMap& shard_of, Weights& weights) {
  CS_ASSIGN_OR_RETURN(base::MappedFile file, folder.map(shard));
  CS_ASSIGN_OR_RETURN(std::vector<NamedTensor> tensors, read_header(file));
  for (NamedTensor& tensor : tensors) {
    const auto place = shard_of.find(tensor.name);
    if (place == shard_of.end()) {
      return base::data_loss(format("{}: tensor '{}' is not in the index {}", file.path().native(), tensor.name, kIndex));
    }
    if (place->second != shard) {
      return base::data_loss(
          format("tensor '{}' is defined twice: in {}, where the index puts it, and in {}", tensor.name, place->second, shard));
    }
    waiting.erase(place->first);
    weights.tensors.push_back(std::move(tensor));
  }
  weights.files.push_back(std::move(file));
  return base::ok_status();
}

Result<Weights> open_sharded(const Folder& folder, const Json& index) {
  const std::string what = (folder.path() / kIndex).native();
  CS_ASSIGN_OR_RETURN(const WeightMap shard_of, parse_weight_map(index, what));
  std::map<std::string_view, int> shards;
  for (const auto& [tensor, shard] : shard_of) shards[shard] = 0;
  if (shards.size() > kMaxShards)
    return base::resource_exhausted(format("{} names {} files, the limit is {}", what, shards.size(), kMaxShards));
  Weights weights;
  WeightMap waiting = shard_of;
  for (const auto& [shard, unused] : shards) {
    auto status = add_shard(folder, shard, waiting, shard_of, weights);
    if (!status.ok()) return std::move(status).with_context(what);
  }
  if (waiting.empty()) return weights;
  const auto& [tensor, shard] = *waiting.begin();
  return base::data_loss(format("{}: tensor '{}' is missing from {}, where the index puts it", what, tensor, shard));
}

Result<std::string> only_weight_file(const Folder& folder) {
  CS_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder.list(".safetensors"));
  if (names.size() == 1) return names.front();
  if (names.empty()) {
    return base::not_found(
        format("{} has no weights: neither {} nor {} nor another .safetensors file", folder.path().native(), kSingle, kIndex));
  }
  return base::invalid_argument(format("{} has {} .safetensors files ({}, {}, ...) but no {}; give the file or add the index",
                                       folder.path().native(), names.size(), names[0], names[1], kIndex));
}

Result<Weights> open_weights(const Folder& folder, const std::string& file) {
  auto single = open_single(folder, kSingle);
  if (single.ok() || single.status().code() != Code::kNotFound) return single;
  CS_ASSIGN_OR_RETURN(const std::optional<Json> index, folder.read_json(kIndex, kMaxHeaderBytes));
  if (index) return open_sharded(folder, *index);
  if (!file.empty()) return open_single(folder, file);
  CS_ASSIGN_OR_RETURN(const std::string only, only_weight_file(folder));
  return open_single(folder, only);
}

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_safetensors(const std::filesystem::path& path, const std::string& file) {
  CS_ASSIGN_OR_RETURN(const Folder folder, Folder::open(path));
  CS_ASSIGN_OR_RETURN(SideFiles side, SideFiles::read(folder, "tokenizer.json"));
  if (!side.config) return base::not_found(format("{} has no config.json, so the model's shape is unknown", path.native()));
  CS_ASSIGN_OR_RETURN(Weights weights, open_weights(folder, file));
  Json config = *side.config;
  std::string name = display_name(config, path);
  return std::unique_ptr<Checkpoint>(
      std::make_unique<SafetensorsCheckpoint>(std::move(name), std::move(config), std::move(side), std::move(weights)));
}

}  // namespace camshaft::checkpoint
