// A GGUF file, or a set of split files, as a Checkpoint.
#include "checkpoint/gguf.h"

#include <mutex>
#include <unordered_set>

#include "base/format.h"
#include "base/mapped_file.h"
#include "checkpoint/content.h"
#include "checkpoint/gguf_header.h"
#include "checkpoint/gguf_vocabulary.h"
#include "checkpoint/tensor_table.h"

namespace camshaft::checkpoint {
namespace {

// A header and the bytes it was read from; `file` is empty where the bytes belong to the caller.
struct Part {
  base::MappedFile file;
  std::span<const std::byte> bytes;
  GgufHeader header;
};

std::vector<NamedTensor> views_of(const std::vector<Part>& parts) {
  std::vector<NamedTensor> tensors;
  for (const Part& part : parts) {
    for (const GgufTensor& tensor : part.header.tensors) {
      const auto bytes = part.bytes.subspan(part.header.data_start + tensor.offset, tensor.size);
      tensors.push_back({tensor.name, {tensor.format, tensor.shape, bytes}});
    }
  }
  return tensors;
}

std::string display_name(const GgufHeader& header, const std::string& fallback) {
  const Json* name = header.metadata.find("general.name");
  const bool named = name != nullptr && name->is_string() && !name->as_string().empty();
  return named ? name->as_string() : fallback;
}

class GgufCheckpoint : public Checkpoint {
 public:
  GgufCheckpoint(std::vector<Part> parts, const std::string& fallback_name)
      : parts_(std::move(parts)), name_(display_name(first(), fallback_name)), tensors_(views_of(parts_)) {}

  Source source() const override { return Source::kGguf; }
  const std::vector<NamedTensor>& tensors() const override { return tensors_.all(); }
  const NamedTensor* find(std::string_view name) const override { return tensors_.find(name); }
  const Json& config() const override { return first().metadata; }
  const std::string& name() const override { return name_; }
  Result<api::TokenizerSpec> tokenizer() const override { return gguf_tokenizer(first()); }
  Result<api::PromptSpec> prompt() const override {
    CS_ASSIGN_OR_RETURN(const api::TokenizerSpec spec, tokenizer());
    return gguf_prompt(first(), spec);
  }
  base::Hash128 content_hash() const override {
    std::call_once(hash_once_, [this] {
      base::Hasher hasher;
      for (const Part& part : parts_) {
        if (part.file.bytes().empty()) {
          hasher.update(part.bytes);
        } else {
          hash_file(hasher, part.file);
        }
      }
      hash_ = hasher.digest();
    });
    return hash_;
  }
  void drop_pages(const NamedTensor& tensor) const override {
    for (const Part& part : parts_) drop_pages_of(part.file, tensor.view.bytes);
  }

 private:
  const GgufHeader& first() const { return parts_.front().header; }

  std::vector<Part> parts_;
  std::string name_;
  TensorTable tensors_;
  mutable std::once_flag hash_once_;
  mutable base::Hash128 hash_;
};

int64_t integer_of(const GgufHeader& header, std::string_view key, int64_t otherwise) {
  const Json* value = header.metadata.find(key);
  return value != nullptr && value->int_if() != nullptr ? *value->int_if() : otherwise;
}

Result<Part> open_part(const std::filesystem::path& path) {
  Part part;
  CS_ASSIGN_OR_RETURN(part.file, base::MappedFile::open(path));
  part.bytes = part.file.bytes();
  CS_ASSIGN_OR_RETURN(part.header, read_gguf_header(part.bytes, path.native()));
  return part;
}

std::string part_suffix(int64_t number, int64_t count) { return format("-{:05d}-of-{:05d}.gguf", number, count); }

// Parts 2..count, beside the first.
Status open_other_parts(const std::filesystem::path& path, int64_t count, std::vector<Part>& parts) {
  const std::string file = path.filename().native();
  if (integer_of(parts.front().header, "split.no", 0) != 0 || !file.ends_with(part_suffix(1, count))) {
    return base::invalid_argument(format("{} is one of {} parts of a model; give the part whose name ends in {}", path.native(),
                                         count, part_suffix(1, count)));
  }
  const std::string stem = file.substr(0, file.size() - part_suffix(1, count).size());
  for (int64_t number = 2; number <= count; ++number) {
    const auto sibling = path.parent_path() / (stem + part_suffix(number, count));
    CS_ASSIGN_OR_RETURN(Part part, open_part(sibling));
    if (integer_of(part.header, "split.no", -1) != number - 1 || integer_of(part.header, "split.count", -1) != count) {
      return base::data_loss(format("{}: split.no and split.count are {} and {}; {} and {} are expected", sibling.native(),
                                    integer_of(part.header, "split.no", -1), integer_of(part.header, "split.count", -1), number - 1,
                                    count));
    }
    parts.push_back(std::move(part));
  }
  return base::ok_status();
}

Status check_parts(const std::filesystem::path& path, const std::vector<Part>& parts) {
  std::unordered_set<std::string_view> names;
  for (const Part& part : parts) {
    for (const GgufTensor& tensor : part.header.tensors) {
      if (!names.insert(tensor.name).second) {
        return base::data_loss(format("{}: tensor '{}' is in two parts of the model", path.native(), tensor.name));
      }
    }
  }
  const int64_t announced = integer_of(parts.front().header, "split.tensors.count", static_cast<int64_t>(names.size()));
  if (announced == static_cast<int64_t>(names.size())) return base::ok_status();
  return base::data_loss(
      format("{}: split.tensors.count is {}, the parts hold {} tensors", path.native(), announced, names.size()));
}

int64_t split_count(const GgufHeader& header) { return integer_of(header, "split.count", 1); }

constexpr int64_t kMaxParts = 1000;

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_gguf(const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(Part first, open_part(path));
  const int64_t count = split_count(first.header);
  if (count > kMaxParts)
    return base::resource_exhausted(format("{}: split.count is {}, the limit is {}", path.native(), count, kMaxParts));
  std::vector<Part> parts;
  parts.push_back(std::move(first));
  if (count > 1) {
    CS_RETURN_IF_ERROR(open_other_parts(path, count, parts));
    CS_RETURN_IF_ERROR(check_parts(path, parts));
  }
  return std::unique_ptr<Checkpoint>(std::make_unique<GgufCheckpoint>(std::move(parts), path.stem().native()));
}

Result<std::unique_ptr<Checkpoint>> read_gguf(std::span<const std::byte> bytes, std::string name) {
  std::vector<Part> parts(1);
  parts[0].bytes = bytes;
  CS_ASSIGN_OR_RETURN(parts[0].header, read_gguf_header(bytes, name));
  if (split_count(parts[0].header) > 1)
    return base::unimplemented(format("{} is one part of a split model; open it as a file", name));
  return std::unique_ptr<Checkpoint>(std::make_unique<GgufCheckpoint>(std::move(parts), std::move(name)));
}

}  // namespace camshaft::checkpoint
