// The files beside the weights of a safetensors folder: configuration, tokenizer, templates. Inside the room only.
#pragma once

#include <optional>
#include <string>

#include "api/tokenizer_spec.h"
#include "base/hash.h"
#include "checkpoint/folder.h"

namespace camshaft::checkpoint {

struct SideFiles {
  std::optional<Json> config, generation_config, tokenizer_config, special_tokens_map, chat_template_json;
  std::optional<std::string> chat_template_jinja;
  std::optional<base::MappedFile> tokenizer;

  // `tokenizer_name` is the file name of the tokenizer, normally tokenizer.json.
  static Result<SideFiles> read(const Folder& folder, std::string_view tokenizer_name);
  void hash(base::Hasher& hasher) const;
};

// Empty where there is no tokenizer file.
Result<api::TokenizerSpec> tokenizer_of(const SideFiles& files);
Result<api::PromptSpec> prompt_of(const SideFiles& files, const api::TokenizerSpec& tokenizer);

}  // namespace camshaft::checkpoint
