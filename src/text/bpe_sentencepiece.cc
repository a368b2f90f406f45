// Building SentencePiece-style BPE, and encoding with it.
#include "text/bpe_sentencepiece.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/format.h"
#include "text/bpe_alphabet.h"
#include "text/bpe_merge_list.h"
#include "text/unicode.h"

namespace camshaft::text {

namespace {

constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581

// Rank 0 is the best score; equal scores share a rank, and then the leftmost pair merges first.
std::vector<uint32_t> ranks_of_scores(const std::vector<float>& scores) {
  std::vector<float> sorted = scores;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<uint32_t> ranks(scores.size());
  for (size_t i = 0; i < scores.size(); ++i) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), scores[i], std::greater<>());
    ranks[i] = static_cast<uint32_t>(at - sorted.begin());
  }
  return ranks;
}

bool has_inner_blank(std::string_view piece) {
  for (size_t at = piece.find(kBlank, 1); at != std::string_view::npos; at = piece.find(kBlank, at + 1)) {
    if (at < kBlank.size() || piece.substr(at - kBlank.size(), kBlank.size()) != kBlank) return true;
  }
  return false;
}

}  // namespace

void CharMap::set(char32_t c, int32_t symbol) {
  int32_t& page = pages_[c >> 8];
  if (page < 0) {
    page = static_cast<int32_t>(symbols_.size() / 256);
    symbols_.resize(symbols_.size() + 256, -1);
  }
  symbols_[static_cast<size_t>(page) * 256 + (c & 0xFF)] = symbol;
}

// Collects merges and the characters' symbols.
struct SentencePieceModel::Builder {
  const api::TokenizerSpec& spec;
  WordIndex pieces;
  CharMap chars;
  int32_t next_symbol;
  std::vector<MergeTable::Merge> merges;

  explicit Builder(const api::TokenizerSpec& s)
      : spec(s), pieces(s.tokens.size()), next_symbol(static_cast<int32_t>(s.tokens.size())) {
    for (size_t id = 0; id < spec.tokens.size(); ++id) add_piece(spec.tokens[id], static_cast<int32_t>(id));
  }
  bool mergeable(size_t id) const { return can_be_merged_to(spec.kinds[id]) && !spec.tokens[id].empty(); }
  void add_piece(std::string_view piece, int32_t id) {
    if (!mergeable(static_cast<size_t>(id)) || pieces.find(piece) >= 0) return;
    pieces.insert(piece, id);
    if (utf8_size(piece[0]) == piece.size()) chars.set(decode_valid(piece, 0).value, id);
  }
  // The symbol for a part of a piece; -1 when merging can never make it.
  int32_t part(std::string_view text) {
    const int32_t id = pieces.find(text);
    if (id >= 0 || utf8_size(text[0]) != text.size()) return id;
    const char32_t c = decode_valid(text, 0).value;
    if (chars.find(c) < 0) chars.set(c, next_symbol++);
    return chars.find(c);
  }
  // Every way to put a piece together from two symbols, with the piece's rank.
  void add_splits(int32_t id, uint32_t rank) {
    const std::string_view piece = spec.tokens[static_cast<size_t>(id)];
    for (size_t at = utf8_size(piece[0]); at < piece.size(); at += utf8_size(piece[at])) {
      const int32_t left = part(piece.substr(0, at));
      if (left < 0) continue;
      const int32_t right = part(piece.substr(at));
      if (right >= 0) merges.push_back({left, right, id, rank});
    }
  }
  Status by_scores() {
    if (spec.scores.size() != spec.tokens.size()) {
      return base::data_loss(format("the vocabulary has {} tokens but {} scores", spec.tokens.size(), spec.scores.size()));
    }
    for (size_t id = 0; id < spec.scores.size(); ++id) {
      if (std::isnan(spec.scores[id])) return base::data_loss(format("score of token {} is not a number", id));
    }
    const std::vector<uint32_t> ranks = ranks_of_scores(spec.scores);
    for (size_t id = 0; id < spec.tokens.size(); ++id) {
      if (mergeable(id) && pieces.find(spec.tokens[id]) == static_cast<int32_t>(id))
        add_splits(static_cast<int32_t>(id), ranks[id]);
    }
    return base::ok_status();
  }
  Status by_list() {
    CS_ASSIGN_OR_RETURN(merges, resolve_merges(spec));
    return base::ok_status();
  }
};

Result<SentencePieceModel> SentencePieceModel::make(const api::TokenizerSpec& spec) {
  Builder builder(spec);
  CS_RETURN_IF_ERROR(spec.merges.empty() ? builder.by_scores() : builder.by_list());
  return SentencePieceModel(spec, std::move(builder));
}

SentencePieceModel::SentencePieceModel(const api::TokenizerSpec& spec, Builder&& builder)
    : merges_(builder.merges), chars_(std::move(builder.chars)), words_(spec.tokens.size()) {
  unk_ = spec.unk.value_or(-1);
  collapse_spaces_ = spec.collapse_spaces;
  prefix_if_missing_ = spec.prefix_space_if_missing;
  byte_ids_.fill(-1);
  piece_bytes_.reserve(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    piece_bytes_.push_back(static_cast<uint32_t>(spec.tokens[id].size()));
    const auto byte = spec.byte_fallback ? byte_of_fallback_token(spec.tokens[id]) : std::nullopt;
    if (byte) byte_ids_[*byte] = static_cast<int32_t>(id);
  }
  cut_at_blanks_ = std::none_of(builder.merges.begin(), builder.merges.end(), [&](const MergeTable::Merge& merge) {
    return has_inner_blank(spec.tokens[static_cast<size_t>(merge.product)]);
  });
  index_words(spec);
}

// Pieces that their own text merges to: one look-up instead of merging.
void SentencePieceModel::index_words(const api::TokenizerSpec& spec) {
  MergeTable::Scratch scratch;
  std::vector<int32_t> symbols;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != api::TokenKind::kNormal || spec.tokens[id].empty()) continue;
    const size_t count = merge_word(spec.tokens[id], scratch, symbols);
    const bool same = count == 1 && symbols[0] == static_cast<int32_t>(id);
    if (same || spec.ignore_merges) words_.insert(spec.tokens[id], static_cast<int32_t>(id));
  }
}

void SentencePieceModel::escape(std::string_view text, Prefix prefix, std::string& out) const {
  out.clear();
  if (collapse_spaces_) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (text.empty()) return;
  }
  const bool has_blank = text.starts_with(' ') || text.starts_with(kBlank);
  if (prefix == Prefix::kYes && !(prefix_if_missing_ && has_blank)) out += kBlank;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != ' ') {
      out += text[i];
    } else if (!collapse_spaces_ || text[i - 1] != ' ') {
      out += kBlank;
    }
  }
}

Status SentencePieceModel::encode(std::string_view text, Prefix prefix, Scratch& scratch, std::vector<int32_t>& out) const {
  escape(text, prefix, scratch.escaped);
  const std::string_view escaped = scratch.escaped;
  for (size_t at = 0; at < escaped.size();) {
    const size_t end = word_end(escaped, at);
    const std::string_view word = escaped.substr(at, end - at);
    const int32_t id = words_.find(word);
    if (id >= 0) {
      out.push_back(id);
    } else {
      CS_RETURN_IF_ERROR(encode_word(word, scratch, out));
    }
    at = end;
  }
  return base::ok_status();
}

// A word is blanks and then other characters.
size_t SentencePieceModel::word_end(std::string_view text, size_t at) const {
  if (!cut_at_blanks_) return text.size();
  while (text.substr(at, kBlank.size()) == kBlank) at += kBlank.size();
  return std::min(text.find(kBlank, at), text.size());
}

size_t SentencePieceModel::merge_word(std::string_view word, MergeTable::Scratch& scratch, std::vector<int32_t>& symbols) const {
  symbols.clear();
  for (size_t at = 0; at < word.size();) {
    const ValidCodePoint c = decode_valid(word, at);
    symbols.push_back(chars_.find(c.value));
    at += c.size;
  }
  return merges_.apply(symbols, scratch);
}

Status SentencePieceModel::encode_word(std::string_view word, Scratch& scratch, std::vector<int32_t>& out) const {
  const size_t count = merge_word(word, scratch.merges, scratch.symbols);
  size_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const int32_t symbol = scratch.symbols[i];
    if (symbol >= 0 && static_cast<size_t>(symbol) < piece_bytes_.size()) {
      out.push_back(symbol);
      at += piece_bytes_[static_cast<size_t>(symbol)];
    } else {
      const size_t size = utf8_size(word[at]);
      CS_RETURN_IF_ERROR(encode_unknown(word.substr(at, size), out));
      at += size;
    }
  }
  return base::ok_status();
}

Status SentencePieceModel::encode_unknown(std::string_view character, std::vector<int32_t>& out) const {
  const auto byte_id = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
  if (std::all_of(character.begin(), character.end(), [&](char c) { return byte_id(c) >= 0; })) {
    for (const char c : character) out.push_back(byte_id(c));
    return base::ok_status();
  }
  if (unk_ < 0) {
    return base::invalid_argument(
        format("'{}' has no token, and the vocabulary has neither byte tokens nor an unknown token", character));
  }
  // Neighbouring unknown characters are one unknown token, as in SentencePiece.
  if (out.empty() || out.back() != unk_) out.push_back(unk_);
  return base::ok_status();
}

}  // namespace camshaft::text
