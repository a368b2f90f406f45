// Building the tables of byte-level BPE, and encoding with them.
#include "text/bpe_byte_level.h"

#include "base/format.h"
#include "text/bpe_alphabet.h"
#include "text/bpe_merge_list.h"

namespace camshaft::text {

Result<ByteLevelModel> ByteLevelModel::make(const api::TokenizerSpec& spec, const std::vector<std::string>& token_bytes) {
  CS_ASSIGN_OR_RETURN(PreTokenizer pre, PreTokenizer::make(spec.pre_tokenizer));
  CS_ASSIGN_OR_RETURN(const std::vector<MergeTable::Merge> merges, resolve_merges(spec));
  ByteLevelModel model(std::move(pre), MergeTable(merges), spec.tokens.size());
  model.unk_ = spec.unk.value_or(-1);
  model.byte_ids_.fill(-1);
  for (size_t id = token_bytes.size(); id-- > 0;) {
    if (spec.kinds[id] != api::TokenKind::kNormal || token_bytes[id].size() != 1) continue;
    model.byte_ids_[static_cast<unsigned char>(token_bytes[id][0])] = static_cast<int32_t>(id);
  }
  model.index_words(spec, token_bytes);
  return model;
}

void ByteLevelModel::index_words(const api::TokenizerSpec& spec, const std::vector<std::string>& token_bytes) {
  MergeTable::Scratch scratch;
  std::vector<int32_t> symbols;
  for (size_t i = 0; i < token_bytes.size(); ++i) {
    const auto id = static_cast<int32_t>(i);
    if (spec.kinds[i] != api::TokenKind::kNormal || token_bytes[i].empty()) continue;
    if (spec.ignore_merges || merges_to(token_bytes[i], id, scratch, symbols)) words_.insert(token_bytes[i], id);
  }
}

bool ByteLevelModel::merges_to(std::string_view word, int32_t id, MergeTable::Scratch& scratch,
                               std::vector<int32_t>& symbols) const {
  symbols.clear();
  for (const char c : word) symbols.push_back(byte_ids_[static_cast<unsigned char>(c)]);
  return merges_.apply(symbols, scratch) == 1 && symbols[0] == id;
}

Status ByteLevelModel::encode(std::string_view text, Prefix prefix, Scratch& scratch, std::vector<int32_t>& out) const {
  if (prefix == Prefix::kYes && !text.starts_with(' ')) {
    scratch.prefixed = " ";
    scratch.prefixed += text;
    text = scratch.prefixed;
  }
  CS_RETURN_IF_ERROR(pre_.cut(text, scratch.pre));
  uint32_t begin = 0;
  for (const uint32_t end : scratch.pre.ends) {
    const std::string_view word = text.substr(begin, end - begin);
    begin = end;
    const int32_t id = words_.find(word);
    if (id >= 0) [[likely]] {
      out.push_back(id);
    } else {
      CS_RETURN_IF_ERROR(encode_word(word, scratch, out));
    }
  }
  return base::ok_status();
}

Status ByteLevelModel::encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const {
  std::vector<int32_t>& symbols = scratch.symbols;
  symbols.clear();
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    const int32_t id = byte_ids_[byte] >= 0 ? byte_ids_[byte] : unk_;
    if (id < 0) {
      return base::invalid_argument(format("byte {:#x} has no token and the vocabulary has no unknown token: leave it out", byte));
    }
    symbols.push_back(id);
  }
  const size_t count = merges_.apply(symbols, scratch.merges);
  out.insert(out.end(), symbols.begin(), symbols.begin() + static_cast<ptrdiff_t>(count));
  return base::ok_status();
}

}  // namespace camshaft::text
