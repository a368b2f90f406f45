// tokenizer.json (Hugging Face tokenizers) to a TokenizerSpec. Inside the room only.
#pragma once

#include <string_view>

#include "api/tokenizer_spec.h"
#include "base/json.h"
#include "base/status.h"

namespace camshaft::checkpoint {

// Parsed neighbours may be nullptr; they say which tokens are BOS, EOS and ends.
struct TokenizerFiles {
  std::string_view tokenizer;  // text of tokenizer.json
  const Json* tokenizer_config = nullptr;
  const Json* special_tokens_map = nullptr;
  const Json* generation_config = nullptr;
  const Json* config = nullptr;
};
Result<api::TokenizerSpec> tokenizer_of(const TokenizerFiles& files);

// The stages around the model: normalizer, pre_tokenizer, decoder (any may be nullptr). Sets the spec's model and its steps.
Status read_tokenizer_stages(const Json* normalizer, const Json* pre_tokenizer, const Json* decoder, api::TokenizerSpec& spec);
// post_processor: which tokens go before and after the text. Needs spec.tokens, bos and eos.
Status read_post_processor(const Json* post_processor, api::TokenizerSpec& spec);

// A member with its type checked; the otherwise-value where it is absent or null.
Result<bool> bool_member(const Json& object, std::string_view key, bool otherwise);
Result<std::string> string_member(const Json& object, std::string_view key, std::string_view otherwise);

}  // namespace camshaft::checkpoint
