// Vocabulary and prompt format out of GGUF metadata. Inside the room only.
#pragma once

#include "api/tokenizer_spec.h"
#include "checkpoint/gguf_header.h"

namespace camshaft::checkpoint {

// Empty where the file has no vocabulary.
Result<api::TokenizerSpec> gguf_tokenizer(const GgufHeader& header);
Result<api::PromptSpec> gguf_prompt(const GgufHeader& header, const api::TokenizerSpec& tokenizer);

// Splitting steps for a `tokenizer.ggml.pre` name; unimplemented, naming it, where we do not know it for certain.
struct GgufPreTokenizer {
  std::vector<api::PreTokenizerStep> steps;
  bool ignore_merges = false;
  bool add_bos = false;  // where the file does not say
};
Result<GgufPreTokenizer> gguf_pre_tokenizer(std::string_view name);

}  // namespace camshaft::checkpoint
