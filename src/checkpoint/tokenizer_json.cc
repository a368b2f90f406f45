// The BPE model, its added tokens and special ids out of tokenizer.json and the files beside it.
#include "checkpoint/tokenizer_json.h"

#include <algorithm>
#include <unordered_map>

#include "base/format.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/end_tokens.h"
#include "checkpoint/vocabulary_limits.h"

namespace camshaft::checkpoint {
namespace {

using api::TokenizerSpec;
using api::TokenKind;

Result<int32_t> id_of(const Json* value, std::string_view what) {
  const int64_t* id = value == nullptr ? nullptr : value->int_if();
  if (id == nullptr || *id < 0 || *id >= static_cast<int64_t>(kMaxVocabulary)) {
    return base::data_loss(format("{} has the id {}; a whole number from 0 to {} is expected", what,
                                  value == nullptr ? "null" : value->dump(), kMaxVocabulary - 1));
  }
  return static_cast<int32_t>(*id);
}

bool is_byte_token(std::string_view text) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); };
  return text.size() == 6 && text.starts_with("<0x") && text[5] == '>' && is_hex(text[3]) && is_hex(text[4]);
}

class Reader {
 public:
  Reader(const Json& root, const TokenizerFiles& files) : root_(root), files_(files) {}

  Result<TokenizerSpec> read() {
    CS_ASSIGN_OR_RETURN(const Json* model, find_model());
    CS_RETURN_IF_ERROR(read_tokenizer_stages(root_.find("normalizer"), root_.find("pre_tokenizer"), root_.find("decoder"), spec_));
    CS_RETURN_IF_ERROR(read_added());
    CS_RETURN_IF_ERROR(read_vocabulary(*model));
    CS_RETURN_IF_ERROR(read_model(*model));
    CS_RETURN_IF_ERROR(read_special_ids());
    CS_RETURN_IF_ERROR(read_post_processor(root_.find("post_processor"), spec_));
    CS_RETURN_IF_ERROR(read_adding());
    CS_RETURN_IF_ERROR(read_end_ids());
    return std::move(spec_);
  }

 private:
  Result<const Json*> find_model() const {
    const Json* model = root_.find("model");
    if (model == nullptr || !model->is_object()) return base::data_loss("the object 'model' is missing");
    CS_ASSIGN_OR_RETURN(const std::string type, string_member(*model, "type", model->find("merges") != nullptr ? "BPE" : ""));
    if (type == "BPE") return model;
    return base::unimplemented(format("tokenizer model '{}' is not supported; BPE is", type));
  }

  Status read_added() {
    const Json* added = root_.find("added_tokens");
    if (added == nullptr || added->is_null()) return base::ok_status();
    if (!added->is_array()) return base::data_loss(format("added_tokens is of type {}, an array is expected", added->kind_name()));
    for (const Json& entry : added->as_array()) {
      auto token = read_added_token(entry);
      if (!token.ok()) return std::move(token).status().with_context(format("added_tokens[{}]", spec_.added.size()));
      spec_.added.push_back(std::move(token).value());
    }
    return base::ok_status();
  }

  static Result<api::AddedToken> read_added_token(const Json& entry) {
    if (!entry.is_object()) return base::data_loss(format("it is of type {}, an object is expected", entry.kind_name()));
    api::AddedToken token;
    CS_ASSIGN_OR_RETURN(token.content, string_member(entry, "content", ""));
    if (token.content.empty()) return base::data_loss("'content' is missing or empty");
    CS_ASSIGN_OR_RETURN(token.id, id_of(entry.find("id"), "it"));
    CS_ASSIGN_OR_RETURN(token.special, bool_member(entry, "special", false));
    CS_ASSIGN_OR_RETURN(token.lstrip, bool_member(entry, "lstrip", false));
    CS_ASSIGN_OR_RETURN(token.rstrip, bool_member(entry, "rstrip", false));
    CS_ASSIGN_OR_RETURN(token.single_word, bool_member(entry, "single_word", false));
    CS_ASSIGN_OR_RETURN(token.normalized, bool_member(entry, "normalized", false));
    return token;
  }

  // Ids may have holes (a text is empty there), but not more holes than tokens: a single large id must not cost memory.
  Status size_tokens(const base::JsonObject& vocabulary) {
    int64_t largest = -1;
    for (const auto& [text, id] : vocabulary) {
      CS_ASSIGN_OR_RETURN(const int32_t value, id_of(&id, format("token \"{}\"", text)));
      largest = std::max<int64_t>(largest, value);
    }
    for (const api::AddedToken& token : spec_.added) largest = std::max<int64_t>(largest, token.id);
    const auto size = static_cast<uint64_t>(largest + 1);
    const uint64_t count = vocabulary.size() + spec_.added.size();
    if (size == 0) return base::data_loss("the vocabulary is empty");
    if (size > 2 * count + 1024) return base::data_loss(format("ids reach {}, but only {} tokens are there", largest, count));
    spec_.tokens.resize(size);
    spec_.kinds.assign(size, TokenKind::kUnused);
    return base::ok_status();
  }

  Status read_vocabulary(const Json& model) {
    const Json* vocabulary = model.find("vocab");
    if (vocabulary == nullptr || !vocabulary->is_object()) return base::data_loss("model: the object 'vocab' is missing");
    if (vocabulary->as_object().size() > kMaxVocabulary) {
      return base::resource_exhausted(
          format("the vocabulary has {} tokens, the limit is {}", vocabulary->as_object().size(), kMaxVocabulary));
    }
    CS_RETURN_IF_ERROR(size_tokens(vocabulary->as_object()));
    for (const auto& [text, id] : vocabulary->as_object()) {
      CS_RETURN_IF_ERROR(place(static_cast<size_t>(*id.int_if()), text, TokenKind::kNormal));
    }
    for (const api::AddedToken& token : spec_.added) {
      CS_RETURN_IF_ERROR(
          place(static_cast<size_t>(token.id), token.content, token.special ? TokenKind::kControl : TokenKind::kUserDefined));
    }
    ids_.reserve(spec_.tokens.size());
    for (size_t id = 0; id < spec_.tokens.size(); ++id) {
      if (spec_.kinds[id] == TokenKind::kUnused) continue;
      const auto [known, is_new] = ids_.emplace(spec_.tokens[id], static_cast<int32_t>(id));
      if (!is_new) return base::data_loss(format("token \"{}\" has two ids, {} and {}", spec_.tokens[id], known->second, id));
    }
    return base::ok_status();
  }

  Status place(size_t id, const std::string& text, TokenKind kind) {
    if (spec_.kinds[id] != TokenKind::kUnused && spec_.tokens[id] != text) {
      return base::data_loss(format("id {} belongs to two tokens, \"{}\" and \"{}\"", id, spec_.tokens[id], text));
    }
    spec_.tokens[id] = text;
    spec_.kinds[id] = kind;
    return base::ok_status();
  }

  Status read_model(const Json& model) {
    CS_ASSIGN_OR_RETURN(spec_.byte_fallback, bool_member(model, "byte_fallback", false));
    CS_ASSIGN_OR_RETURN(spec_.ignore_merges, bool_member(model, "ignore_merges", false));
    for (const std::string_view key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      CS_ASSIGN_OR_RETURN(const std::string value, string_member(model, key, ""));
      if (!value.empty()) return base::unimplemented(format("model: {} \"{}\" is not supported", key, value));
    }
    if (spec_.byte_fallback) mark_bytes();
    CS_ASSIGN_OR_RETURN(const std::string unknown, string_member(model, "unk_token", ""));
    spec_.unk = find_id(unknown);
    if (!unknown.empty() && !spec_.unk) return base::data_loss(format("model: unk_token \"{}\" is not in the vocabulary", unknown));
    return read_merges(model);
  }

  void mark_bytes() {
    for (size_t id = 0; id < spec_.tokens.size(); ++id) {
      if (spec_.kinds[id] == TokenKind::kNormal && is_byte_token(spec_.tokens[id])) spec_.kinds[id] = TokenKind::kByte;
    }
  }

  Status read_merges(const Json& model) {
    const Json* merges = model.find("merges");
    if (merges == nullptr || !merges->is_array()) return base::data_loss("model: the array 'merges' is missing");
    if (merges->as_array().size() > kMaxMerges) {
      return base::resource_exhausted(
          format("the vocabulary has {} merges, the limit is {}", merges->as_array().size(), kMaxMerges));
    }
    spec_.merges.reserve(merges->as_array().size());
    for (const Json& merge : merges->as_array()) {
      auto pair = read_merge(merge);
      if (!pair) {
        return base::data_loss(
            format("model: merges[{}] is {}; \"a b\" or [\"a\", \"b\"] is expected", spec_.merges.size(), merge.dump()));
      }
      spec_.merges.push_back(*std::move(pair));
    }
    return base::ok_status();
  }

  static std::optional<std::pair<std::string, std::string>> read_merge(const Json& merge) {
    if (merge.is_array()) {
      const base::JsonArray& parts = merge.as_array();
      if (parts.size() != 2 || !parts[0].is_string() || !parts[1].is_string()) return std::nullopt;
      return std::pair(parts[0].as_string(), parts[1].as_string());
    }
    if (!merge.is_string()) return std::nullopt;
    const std::string& line = merge.as_string();
    const size_t blank = line.find(' ');
    if (blank == 0 || blank == std::string::npos || blank + 1 == line.size() || line.find(' ', blank + 1) != std::string::npos) {
      return std::nullopt;
    }
    return std::pair(line.substr(0, blank), line.substr(blank + 1));
  }

  std::optional<int32_t> find_id(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  // The text of "bos_token" and its like; empty where no file has it.
  std::string special_text(std::string_view key) const {
    for (const Json* file : {files_.tokenizer_config, files_.special_tokens_map}) {
      const Json* value = file == nullptr ? nullptr : file->find(key);
      if (value != nullptr && value->is_object()) value = value->find("content");
      if (value != nullptr && value->is_string()) return value->as_string();
    }
    return "";
  }

  // A number or a list of numbers under `key`.
  Result<std::vector<int32_t>> ids_in(const Json* file, std::string_view key) const {
    std::vector<int32_t> ids;
    const Json* value = file == nullptr ? nullptr : file->find(key);
    if (value == nullptr || value->is_null()) return ids;
    const base::JsonArray single{*value};
    for (const Json& element : value->is_array() ? value->as_array() : single) {
      const int64_t* id = element.int_if();
      if (id == nullptr || *id < 0 || *id >= static_cast<int64_t>(spec_.tokens.size())) {
        return base::data_loss(format("'{}' holds {}; ids below {} are expected", key, element.dump(), spec_.tokens.size()));
      }
      ids.push_back(static_cast<int32_t>(*id));
    }
    return ids;
  }

  Result<std::optional<int32_t>> special_id(std::string_view name, std::string_view id_key) const {
    const std::string text = special_text(name);
    if (!text.empty()) {
      const std::optional<int32_t> id = find_id(text);
      if (!id) return base::data_loss(format("{} \"{}\" is not in the vocabulary", name, text));
      return id;
    }
    for (const Json* file : {files_.generation_config, files_.config}) {
      CS_ASSIGN_OR_RETURN(const std::vector<int32_t> ids, ids_in(file, id_key));
      if (!ids.empty()) return std::optional<int32_t>(ids.front());
    }
    return std::optional<int32_t>();
  }

  Status read_special_ids() {
    CS_ASSIGN_OR_RETURN(spec_.bos, special_id("bos_token", "bos_token_id"));
    CS_ASSIGN_OR_RETURN(spec_.eos, special_id("eos_token", "eos_token_id"));
    if (!spec_.unk) spec_.unk = find_id(special_text("unk_token"));
    spec_.pad = find_id(special_text("pad_token"));
    return base::ok_status();
  }

  // An explicit add_bos_token of tokenizer_config.json counts where no template says what is added.
  Status read_adding() {
    if (files_.tokenizer_config == nullptr || spec_.add_bos || spec_.add_eos) return base::ok_status();
    CS_ASSIGN_OR_RETURN(const bool bos, bool_member(*files_.tokenizer_config, "add_bos_token", false));
    CS_ASSIGN_OR_RETURN(const bool eos, bool_member(*files_.tokenizer_config, "add_eos_token", false));
    spec_.add_bos = bos && spec_.bos.has_value();
    spec_.add_eos = eos && spec_.eos.has_value();
    return base::ok_status();
  }

  Status read_end_ids() {
    std::vector<int32_t> ids;
    if (spec_.eos) ids.push_back(*spec_.eos);
    for (const Json* file : {files_.generation_config, files_.config}) {
      CS_ASSIGN_OR_RETURN(const std::vector<int32_t> more, ids_in(file, "eos_token_id"));
      ids.insert(ids.end(), more.begin(), more.end());
    }
    spec_.end_ids = find_end_ids(spec_, ids);
    return base::ok_status();
  }

  const Json& root_;
  const TokenizerFiles& files_;
  TokenizerSpec spec_;
  std::unordered_map<std::string_view, int32_t> ids_;  // views into spec_.tokens
};

}  // namespace

Result<bool> bool_member(const Json& object, std::string_view key, bool otherwise) {
  const Json* value = object.find(key);
  if (value == nullptr || value->is_null()) return otherwise;
  if (!value->is_bool()) return base::data_loss(format("'{}' is of type {}, a boolean is expected", key, value->kind_name()));
  return value->as_bool();
}

Result<std::string> string_member(const Json& object, std::string_view key, std::string_view otherwise) {
  const Json* value = object.find(key);
  if (value == nullptr || value->is_null()) return std::string(otherwise);
  if (!value->is_string()) return base::data_loss(format("'{}' is of type {}, a string is expected", key, value->kind_name()));
  return value->as_string();
}

Result<TokenizerSpec> tokenizer_of(const TokenizerFiles& files) {
  CS_ASSIGN_OR_RETURN(
      const Json root,
      base::parse_json(files.tokenizer, {.max_bytes = kMaxTokenizerBytes, .max_depth = 64, .max_values = kMaxTokenizerValues}));
  if (!root.is_object())
    return base::data_loss(format("tokenizer.json holds a JSON value of type {}, an object is expected", root.kind_name()));
  return Reader(root, files).read();
}

Result<TokenizerSpec> read_tokenizer_json(std::string_view tokenizer_json, std::string_view tokenizer_config_json) {
  Json config;
  TokenizerFiles files{tokenizer_json, nullptr, nullptr, nullptr, nullptr};
  if (!tokenizer_config_json.empty()) {
    CS_ASSIGN_OR_RETURN(config, base::parse_json(tokenizer_config_json));
    files.tokenizer_config = &config;
  }
  return tokenizer_of(files);
}

}  // namespace camshaft::checkpoint
