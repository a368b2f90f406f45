// tokenizer.ggml.* metadata to TokenizerSpec and PromptSpec.
#include "checkpoint/gguf_vocabulary.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/format.h"
#include "checkpoint/end_tokens.h"
#include "checkpoint/sampling_defaults.h"
#include "checkpoint/vocabulary_limits.h"

namespace camshaft::checkpoint {
namespace {

using api::TokenizerSpec;
using api::TokenKind;

class Reader {
 public:
  explicit Reader(const GgufHeader& header) : header_(header) {}

  Result<TokenizerSpec> read() {
    CS_ASSIGN_OR_RETURN(const std::string* model, text("tokenizer.ggml.model"));
    if (model == nullptr || *model == "none" || *model == "no_vocab") return TokenizerSpec();
    if (*model != "gpt2" && *model != "llama") {
      return base::unimplemented(
          format("tokenizer.ggml.model is '{}'; supported are 'gpt2' (byte-level BPE) and 'llama' (SentencePiece BPE)", *model));
    }
    const bool byte_level = *model == "gpt2";
    CS_RETURN_IF_ERROR(read_tokens());
    CS_RETURN_IF_ERROR(read_kinds());
    CS_RETURN_IF_ERROR(read_special_ids(byte_level));
    CS_RETURN_IF_ERROR(byte_level ? read_byte_level() : read_sentence_piece());
    CS_RETURN_IF_ERROR(set_flag("tokenizer.ggml.add_bos_token", spec_.add_bos));
    CS_RETURN_IF_ERROR(set_flag("tokenizer.ggml.add_eos_token", spec_.add_eos));
    spec_.add_bos = spec_.add_bos && spec_.bos.has_value();
    spec_.add_eos = spec_.add_eos && spec_.eos.has_value();
    add_matched_tokens();
    CS_RETURN_IF_ERROR(read_end_ids());
    return std::move(spec_);
  }

 private:
  // nullptr where the key is absent.
  Result<const std::string*> text(std::string_view key) const {
    const Json* value = header_.metadata.find(key);
    if (value == nullptr) return static_cast<const std::string*>(nullptr);
    if (!value->is_string()) return base::data_loss(format("'{}' is of type {}, a string is expected", key, value->kind_name()));
    return &value->as_string();
  }

  Status set_flag(std::string_view key, bool& flag) const {
    const Json* value = header_.metadata.find(key);
    if (value == nullptr) return base::ok_status();
    if (!value->is_bool()) return base::data_loss(format("'{}' is of type {}, a bool is expected", key, value->kind_name()));
    flag = value->as_bool();
    return base::ok_status();
  }

  // Absent where the key is absent; -1 is how some converters write "none".
  Result<std::optional<int32_t>> token_id(std::string_view key) const {
    const Json* value = header_.metadata.find(key);
    if (value == nullptr) return std::optional<int32_t>();
    const int64_t* id = value->int_if();
    if (id != nullptr && (*id == -1 || *id == INT64_C(0xffffffff))) return std::optional<int32_t>();
    if (id == nullptr || *id < 0 || *id >= static_cast<int64_t>(spec_.tokens.size())) {
      return base::data_loss(format("'{}' is {}; an id below {} is expected", key, value->dump(), spec_.tokens.size()));
    }
    return std::optional<int32_t>(static_cast<int32_t>(*id));
  }

  const GgufArray* array(std::string_view key) const {
    const auto found = header_.arrays.find(key);
    return found == header_.arrays.end() ? nullptr : &found->second;
  }

  Status check_count(std::string_view key, uint64_t count) const {
    if (count == spec_.tokens.size()) return base::ok_status();
    return base::data_loss(format("'{}' has {} elements for {} tokens", key, count, spec_.tokens.size()));
  }

  Status read_tokens() {
    const GgufArray* tokens = array("tokenizer.ggml.tokens");
    if (tokens == nullptr) return base::data_loss("the array 'tokenizer.ggml.tokens' is missing");
    if (tokens->count == 0) return base::data_loss("'tokenizer.ggml.tokens' is empty");
    if (tokens->count > kMaxVocabulary) {
      return base::resource_exhausted(format("the vocabulary has {} tokens, the limit is {}", tokens->count, kMaxVocabulary));
    }
    CS_ASSIGN_OR_RETURN(spec_.tokens, gguf_strings(*tokens, "'tokenizer.ggml.tokens'"));
    return base::ok_status();
  }

  Status read_kinds() {
    constexpr TokenKind kKinds[] = {TokenKind::kNormal,      TokenKind::kNormal, TokenKind::kUnknown, TokenKind::kControl,
                                    TokenKind::kUserDefined, TokenKind::kUnused, TokenKind::kByte};
    spec_.kinds.assign(spec_.tokens.size(), TokenKind::kNormal);
    const GgufArray* types = array("tokenizer.ggml.token_type");
    if (types == nullptr) return base::ok_status();
    CS_RETURN_IF_ERROR(check_count("tokenizer.ggml.token_type", types->count));
    CS_ASSIGN_OR_RETURN(const std::vector<double> numbers, gguf_numbers(*types, "'tokenizer.ggml.token_type'"));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (!(numbers[i] >= 0 && numbers[i] < static_cast<double>(std::size(kKinds)))) {
        return base::data_loss(format("'tokenizer.ggml.token_type': token {} has the type {}; 0 to 6 are known", i, numbers[i]));
      }
      spec_.kinds[i] = kKinds[static_cast<size_t>(numbers[i])];
    }
    return base::ok_status();
  }

  Status read_special_ids(bool byte_level) {
    CS_ASSIGN_OR_RETURN(spec_.bos, token_id("tokenizer.ggml.bos_token_id"));
    CS_ASSIGN_OR_RETURN(spec_.eos, token_id("tokenizer.ggml.eos_token_id"));
    CS_ASSIGN_OR_RETURN(spec_.unk, token_id("tokenizer.ggml.unknown_token_id"));
    CS_ASSIGN_OR_RETURN(spec_.pad, token_id("tokenizer.ggml.padding_token_id"));
    if (!byte_level && !spec_.unk) {
      const auto unknown = std::find(spec_.kinds.begin(), spec_.kinds.end(), TokenKind::kUnknown);
      if (unknown != spec_.kinds.end()) spec_.unk = static_cast<int32_t>(unknown - spec_.kinds.begin());
    }
    return base::ok_status();
  }

  Status read_byte_level() {
    spec_.model = api::TokenizerModel::kByteLevelBpe;
    CS_ASSIGN_OR_RETURN(const std::string* pre, text("tokenizer.ggml.pre"));
    if (pre == nullptr) {
      return base::data_loss(
          "'tokenizer.ggml.pre' is missing, so how text is split is unknown; convert the model again with a newer converter");
    }
    CS_ASSIGN_OR_RETURN(GgufPreTokenizer steps, gguf_pre_tokenizer(*pre));
    spec_.pre_tokenizer = std::move(steps.steps);
    spec_.ignore_merges = steps.ignore_merges;
    spec_.add_bos = steps.add_bos;
    CS_RETURN_IF_ERROR(set_flag("tokenizer.ggml.add_space_prefix", spec_.add_prefix_space));
    return read_merges();
  }

  Status read_merges() {
    const GgufArray* merges = array("tokenizer.ggml.merges");
    if (merges == nullptr) return base::data_loss("the array 'tokenizer.ggml.merges' is missing");
    if (merges->count > kMaxMerges) {
      return base::resource_exhausted(format("the vocabulary has {} merges, the limit is {}", merges->count, kMaxMerges));
    }
    CS_ASSIGN_OR_RETURN(const std::vector<std::string> lines, gguf_strings(*merges, "'tokenizer.ggml.merges'"));
    spec_.merges.reserve(lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      const size_t blank = lines[i].find(' ', 1);
      if (lines[i].empty() || blank == std::string::npos || blank + 1 == lines[i].size()) {
        return base::data_loss(
            format("'tokenizer.ggml.merges': element {} is \"{}\"; two parts with a blank between are expected", i, lines[i]));
      }
      spec_.merges.emplace_back(lines[i].substr(0, blank), lines[i].substr(blank + 1));
    }
    return base::ok_status();
  }

  Status read_sentence_piece() {
    spec_.model = api::TokenizerModel::kSentencePieceBpe;
    spec_.add_bos = true;
    spec_.byte_fallback = std::find(spec_.kinds.begin(), spec_.kinds.end(), TokenKind::kByte) != spec_.kinds.end();
    spec_.add_prefix_space = true;
    CS_RETURN_IF_ERROR(set_flag("tokenizer.ggml.add_space_prefix", spec_.add_prefix_space));
    spec_.prefix_space_every_segment = spec_.add_prefix_space;
    CS_RETURN_IF_ERROR(set_flag("tokenizer.ggml.remove_extra_whitespaces", spec_.collapse_spaces));
    const GgufArray* scores = array("tokenizer.ggml.scores");
    if (scores == nullptr) return base::data_loss("the array 'tokenizer.ggml.scores' is missing");
    CS_RETURN_IF_ERROR(check_count("tokenizer.ggml.scores", scores->count));
    CS_ASSIGN_OR_RETURN(const std::vector<double> numbers, gguf_numbers(*scores, "'tokenizer.ggml.scores'"));
    for (size_t i = 0; i < numbers.size(); ++i) {
      if (std::isnan(numbers[i])) return base::data_loss(format("'tokenizer.ggml.scores': element {} is no number", i));
    }
    spec_.scores.assign(numbers.begin(), numbers.end());
    return base::ok_status();
  }

  // GGUF does not say which tokens swallow white space; it is known for the Phi-3 family, whose tokenizer.json has it.
  bool strips_right(const std::string& token) const {
    const Json* name = header_.metadata.find("general.name");
    if (name == nullptr || !name->is_string()) return false;
    std::string lower = name->as_string();
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (lower.find("phi-3") == std::string::npos && lower.find("phi3") == std::string::npos) return false;
    return token != "<unk>" && token != "<s>" && token != "<|endoftext|>";
  }

  void add_matched_tokens() {
    for (size_t id = 0; id < spec_.tokens.size(); ++id) {
      const TokenKind kind = spec_.kinds[id];
      if (kind != TokenKind::kControl && kind != TokenKind::kUserDefined && kind != TokenKind::kUnknown) continue;
      const std::string& token = spec_.tokens[id];
      if (token.empty()) continue;
      spec_.added.push_back(
          {static_cast<int32_t>(id), token, kind != TokenKind::kUserDefined, false, strips_right(token), false, false});
    }
  }

  Status read_end_ids() {
    std::vector<int32_t> ids;
    if (spec_.eos) ids.push_back(*spec_.eos);
    for (const std::string_view key : {"tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
      CS_ASSIGN_OR_RETURN(const std::optional<int32_t> id, token_id(key));
      if (id) ids.push_back(*id);
    }
    spec_.end_ids = find_end_ids(spec_, ids);
    return base::ok_status();
  }

  const GgufHeader& header_;
  TokenizerSpec spec_;
};

// "tokenizer.chat_template" or "tokenizer.chat_template.NAME".
Status read_templates(const Json& metadata, api::PromptSpec& prompt) {
  constexpr std::string_view kKey = "tokenizer.chat_template";
  for (const auto& [key, value] : metadata.as_object()) {
    const bool named = key.size() > kKey.size() + 1 && key.starts_with(kKey) && key[kKey.size()] == '.';
    if (key != kKey && !named) continue;
    if (!value.is_string()) return base::data_loss(format("'{}' is of type {}, a string is expected", key, value.kind_name()));
    if (value.as_string().size() > kMaxTemplateBytes) {
      return base::resource_exhausted(
          format("'{}' has {} bytes, the limit is {}", key, value.as_string().size(), kMaxTemplateBytes));
    }
    if (named) {
      prompt.named_templates.emplace_back(key.substr(kKey.size() + 1), value.as_string());
    } else {
      prompt.chat_template = value.as_string();
    }
  }
  return base::ok_status();
}

void add_special(const api::TokenizerSpec& spec, std::string_view name, std::optional<int32_t> id, api::PromptSpec& prompt) {
  if (id) prompt.special_tokens.emplace_back(name, spec.tokens[static_cast<size_t>(*id)]);
}

}  // namespace

Result<api::TokenizerSpec> gguf_tokenizer(const GgufHeader& header) { return Reader(header).read(); }

Result<api::PromptSpec> gguf_prompt(const GgufHeader& header, const api::TokenizerSpec& tokenizer) {
  api::PromptSpec prompt;
  CS_RETURN_IF_ERROR(read_templates(header.metadata, prompt));
  const auto token_text = [&tokenizer](std::optional<int32_t> id) { return id ? tokenizer.tokens[static_cast<size_t>(*id)] : ""; };
  prompt.bos_token = token_text(tokenizer.bos);
  prompt.eos_token = token_text(tokenizer.eos);
  add_special(tokenizer, "bos_token", tokenizer.bos, prompt);
  add_special(tokenizer, "eos_token", tokenizer.eos, prompt);
  add_special(tokenizer, "unk_token", tokenizer.unk, prompt);
  add_special(tokenizer, "pad_token", tokenizer.pad, prompt);
  CS_RETURN_IF_ERROR(read_sampling_defaults(header.metadata,
                                            {"general.sampling.temp", "general.sampling.top_k", "general.sampling.top_p",
                                             "general.sampling.min_p", "general.sampling.penalty_repeat"},
                                            prompt));
  return prompt;
}

}  // namespace camshaft::checkpoint
