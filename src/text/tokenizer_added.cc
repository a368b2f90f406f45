// A byte filter finds candidates; at each one the contents' sizes are tried from the longest down.
#include "text/tokenizer_added.h"

#include <algorithm>

#include "text/unicode.h"

namespace camshaft::text {

namespace {

unsigned byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

bool touches_word(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_word_char(decode_valid(text, previous_start(text, begin)).value)) return true;
  return end < text.size() && is_word_char(decode_valid(text, end).value);
}

size_t skip_space_left(std::string_view text, size_t from, size_t at) {
  while (at > from) {
    const size_t before = previous_start(text, at);
    if ((char_class(decode_valid(text, before).value) & kSpace) == 0) break;
    at = before;
  }
  return at;
}

size_t skip_space_right(std::string_view text, size_t at) {
  while (at < text.size()) {
    const ValidCodePoint c = decode_valid(text, at);
    if ((char_class(c.value) & kSpace) == 0) break;
    at += c.size;
  }
  return at;
}

}  // namespace

void ControlRanges::add(size_t begin, size_t end) {
  if (begin == end) return;
  if (!ranges_.empty() && ranges_.back().second == begin) {
    ranges_.back().second = end;
  } else {
    ranges_.emplace_back(begin, end);
  }
}

bool ControlRanges::hold(size_t begin, size_t end) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), begin, [](size_t at, const auto& range) { return at < range.first; });
  return after != ranges_.begin() && std::prev(after)->second >= end;
}

AddedMatcher::AddedMatcher(const std::vector<const api::AddedToken*>& tokens) : index_(tokens.size()), first_{} {
  for (const api::AddedToken* token : tokens) {
    const std::string_view content = token->content;
    if (content.empty() || index_.find(content) >= 0) continue;
    index_.insert(content, static_cast<int32_t>(tokens_.size()));
    tokens_.push_back(token);
    const unsigned first = byte_at(content, 0);
    first_[first] = true;
    sizes_[first].push_back(static_cast<uint32_t>(content.size()));
    for (unsigned second = 0; second < 256; ++second) {
      if (content.size() == 1 || second == byte_at(content, 1)) first_two_.set(first << 8 | second);
    }
  }
  for (std::vector<uint32_t>& sizes : sizes_) {
    std::sort(sizes.rbegin(), sizes.rend());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
}

bool AddedMatcher::may_start(std::string_view text, size_t at) const {
  if (!first_[byte_at(text, at)]) return false;
  return at + 1 == text.size() || first_two_[byte_at(text, at) << 8 | byte_at(text, at + 1)];
}

const api::AddedToken* AddedMatcher::longest_at(std::string_view text, size_t at, const ControlRanges& control) const {
  for (const uint32_t size : sizes_[byte_at(text, at)]) {
    if (size > text.size() - at) continue;
    const int32_t index = index_.find(text.substr(at, size));
    if (index < 0) continue;
    const api::AddedToken* token = tokens_[static_cast<size_t>(index)];
    if (!token->special || control.hold(at, at + size)) return token;
  }
  return nullptr;
}

AddedMatcher::Match AddedMatcher::find(std::string_view text, size_t from, const ControlRanges& control) const {
  for (size_t at = empty() ? text.size() : from; at < text.size();) {
    const api::AddedToken* token = may_start(text, at) ? longest_at(text, at, control) : nullptr;
    if (token == nullptr) {
      ++at;
      continue;
    }
    const size_t end = at + token->content.size();
    if (token->single_word && touches_word(text, at, end)) {
      at = end;
      continue;
    }
    return Match{token->lstrip ? skip_space_left(text, from, at) : at, token->rstrip ? skip_space_right(text, end) : end,
                 token->id};
  }
  return {text.size(), text.size(), -1};
}

}  // namespace camshaft::text
