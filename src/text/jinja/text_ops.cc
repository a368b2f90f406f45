// The string operations behind methods and filters.
#include "text/jinja/text_ops.h"

#include <algorithm>

#include "text/jinja/failure.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

bool is_cased(char32_t code) { return is_upper(code) || is_lower(code); }

// Where a word starts for str.title(): behind anything without case.
void append_cased(std::string& out, char32_t code, Case to, bool word_start) {
  switch (to) {
    case Case::kLower: return append_lower(out, code);
    case Case::kUpper: return append_upper(out, code);
    case Case::kSwap: return is_upper(code) ? append_lower(out, code) : append_upper(out, code);
    default: return word_start ? append_title(out, code) : append_lower(out, code);
  }
}

bool contains_char(std::string_view chars, std::string_view one) { return chars.find(one) != std::string_view::npos; }

// Start of the character that ends at `end`.
uint64_t char_before(std::string_view text, uint64_t end) {
  do --end;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xC0) == 0x80);
  return end;
}

Value part(Heap& heap, const Str* text, uint64_t begin, uint64_t end) { return Value::str_of(slice_bytes(heap, text, begin, end)); }

std::vector<Value> split_space(Heap& heap, const Str* text, int64_t count) {
  const std::string_view all = bytes(heap, text);
  std::vector<Value> out;
  const auto skip = [&](uint64_t at, bool space) {
    for (uint32_t size = 0; at < all.size() && is_space(decode(all, at, &size)) == space;) at += size;
    return at;
  };
  for (uint64_t at = skip(0, true); at < all.size();) {
    const bool last = count >= 0 && static_cast<int64_t>(out.size()) == count;
    const uint64_t end = last ? all.size() : skip(at, false);
    out.push_back(part(heap, text, at, end));
    if (last) break;
    at = skip(end, true);
  }
  return out;
}

std::vector<Value> rsplit_space(Heap& heap, const Str* text, int64_t count) {
  std::vector<Value> out;
  const Str* rest = strip(heap, text, nullptr, Side::kRight);
  const std::string_view all = bytes(heap, rest);
  uint64_t end = all.size();
  uint32_t size = 0;
  while (end > 0) {
    if (count >= 0 && static_cast<int64_t>(out.size()) == count) {
      out.push_back(part(heap, rest, 0, end));
      break;
    }
    uint64_t begin = end;
    while (begin > 0 && !is_space(decode(all, char_before(all, begin), &size))) begin = char_before(all, begin);
    out.push_back(part(heap, rest, begin, end));
    while (begin > 0 && is_space(decode(all, char_before(all, begin), &size))) begin = char_before(all, begin);
    end = begin;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

const Str* change_case(Heap& heap, const Str* text, Case to) {
  StrBuilder out(heap);
  bool word_start = true;
  for_each_run(heap, text, 0, text->size, [&](std::string_view run, Origin origin) {
    heap.scan(run.size() * 4);
    std::string changed;
    for (uint64_t at = 0; at < run.size();) {
      uint32_t size = 0;
      const char32_t code = decode(run, at, &size);
      append_cased(changed, code, to, word_start);
      word_start = to == Case::kTitle && !is_cased(code);
      at += size;
    }
    out.append(changed, origin);
  });
  return out.finish();
}

const Str* strip(Heap& heap, const Str* text, const Str* chars, Side side) {
  const std::string_view all = bytes(heap, text);
  const std::string_view set = chars ? bytes(heap, chars) : std::string_view();
  const auto goes = [&](uint64_t at, uint32_t* size) {
    const char32_t code = decode(all, at, size);
    if (chars) heap.scan(set.size());
    return chars ? contains_char(set, all.substr(at, *size)) : is_space(code);
  };
  uint64_t begin = 0, end = all.size();
  uint32_t size = 0;
  while (side != Side::kRight && begin < end && goes(begin, &size)) begin += size;
  while (side != Side::kLeft && begin < end && goes(char_before(all, end), &size)) end -= size;
  heap.scan(all.size() - (end - begin));
  return slice_bytes(heap, text, begin, end);
}

const Str* replace(Heap& heap, const Str* text, const Str* from, const Str* to, int64_t count) {
  const std::string_view all = bytes(heap, text), needle = bytes(heap, from);
  heap.scan(all.size() + needle.size());
  StrBuilder out(heap);
  uint64_t at = 0;
  for (int64_t done = 0; count < 0 || done < count; ++done) {
    uint64_t hit = all.find(needle, at);
    if (needle.empty() && done > 0) {  // between all characters
      if (at >= all.size()) break;
      uint32_t size = 0;
      decode(all, at, &size);
      hit = at + size;
    }
    if (hit == std::string_view::npos) break;
    out.append(text, at, hit);
    out.append(to);
    at = hit + needle.size();
  }
  if (at == 0 && out.size() == 0) return text;
  out.append(text, at, all.size());
  return out.finish();
}

std::vector<Value> split(Heap& heap, const Str* text, const Str* separator, int64_t count, Side from) {
  const std::string_view all = bytes(heap, text);
  heap.scan(all.size());
  if (!separator) return from == Side::kLeft ? split_space(heap, text, count) : rsplit_space(heap, text, count);
  const std::string_view needle = bytes(heap, separator);
  if (needle.empty()) fail("split() with an empty separator");
  std::vector<Value> out;
  uint64_t begin = 0, end = all.size();
  while (count < 0 || static_cast<int64_t>(out.size()) < count) {
    if (from == Side::kLeft) {
      const uint64_t hit = all.find(needle, begin);
      if (hit == std::string_view::npos) break;
      out.push_back(part(heap, text, begin, hit));
      begin = hit + needle.size();
    } else {
      const uint64_t hit = end < needle.size() ? std::string_view::npos : all.rfind(needle, end - needle.size());
      if (hit == std::string_view::npos) break;
      out.push_back(part(heap, text, hit + needle.size(), end));
      end = hit;
    }
  }
  out.push_back(part(heap, text, begin, end));
  if (from == Side::kRight) std::reverse(out.begin(), out.end());
  return out;
}

std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> lines;
  uint64_t begin = 0;
  for (uint64_t at = 0; at < text.size();) {
    uint32_t size = 0;
    const bool ends = is_line_end(decode(text, at, &size));
    if (ends && text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') size = 2;
    if (ends) lines.push_back(text.substr(begin, at - begin + (keep_ends ? size : 0)));
    at += size;
    if (ends) begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<Value> split_lines(Heap& heap, const Str* text, bool keep_ends) {
  const std::string_view all = bytes(heap, text);
  heap.scan(all.size());
  std::vector<Value> out;
  for (std::string_view line : lines_of(all, keep_ends)) {
    const auto begin = static_cast<uint64_t>(line.data() - all.data());
    out.push_back(part(heap, text, begin, begin + line.size()));
  }
  return out;
}

const Str* join(Heap& heap, const Str* separator, const std::vector<Value>& items) {
  StrBuilder out(heap);
  bool first = true;
  for (Value item : items) {
    if (!std::exchange(first, false)) out.append(separator);
    if (!item.is_string()) fail(format("join() needs strings, found '{}'", type_name(item)));
    out.append(item.str);
  }
  return out.finish();
}

const Str* pad(Heap& heap, const Str* text, int64_t width, const Str* fill, Side side) {
  if (length(heap, fill) != 1) fail("the fill character must be one character");
  const auto size = static_cast<int64_t>(length(heap, text));
  if (width <= size) return text;
  const int64_t padding = width - size;
  // Python puts the odd blank of a centred text in front only when width and padding are both odd.
  const int64_t left = side == Side::kLeft ? padding : side == Side::kRight ? 0 : padding / 2 + (padding & width & 1);
  heap.require(static_cast<uint64_t>(padding), fill->size);
  StrBuilder out(heap);
  for (int64_t i = 0; i < left; ++i) out.append(fill);
  out.append(text);
  for (int64_t i = left; i < padding; ++i) out.append(fill);
  return out.finish();
}

}  // namespace camshaft::text::jinja
