// Case lines: expanding alternatives, taking the harness's own keys out, the rest is the op's description.
#include "case.h"

#include <charconv>
#include <fstream>

#include "base/format.h"

namespace camshaft::opcheck {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Every combination of the alternatives.
std::vector<std::string> expand(std::string_view line) {
  std::vector<std::string> lines = {""};
  for (const std::string& word : split(line, ' ')) {
    const size_t equals = word.find('=');
    const std::string key = equals == std::string::npos ? "" : word.substr(0, equals + 1);
    std::vector<std::string> longer;
    for (const std::string& start : lines) {
      for (const std::string& value : split(word.substr(key.size()), '|'))
        longer.push_back(start + (start.empty() ? "" : " ") + key + value);
    }
    lines = std::move(longer);
  }
  return lines;
}

Status bad(std::string_view key, std::string_view value) {
  return base::invalid_argument(format("'{}' is no value of {}", value, key));
}

Status parse_int(std::string_view key, std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0) return bad(key, text);
  return {};
}

Status parse_sequences(std::string_view text, Case& out) {
  for (const std::string& item : split(text, ',')) {
    const size_t plus = item.find('+');
    if (plus == std::string::npos) return bad("seqs", text);
    SequenceSpec& sequence = out.sequences.emplace_back();
    CS_RETURN_IF_ERROR(parse_int("seqs", std::string_view(item).substr(0, plus), sequence.start));
    CS_RETURN_IF_ERROR(parse_int("seqs", std::string_view(item).substr(plus + 1), sequence.rows));
    out.rows += sequence.rows;
  }
  return {};
}

// Takes a key of the harness; `taken` is false where the key belongs to the description.
Status take_key(std::string_view key, std::string_view value, Case& out, int64_t& context, bool& taken) {
  taken = true;
  if (key == "rows") return parse_int(key, value, out.rows);
  if (key == "context") return parse_int(key, value, context);
  if (key == "count") return parse_int(key, value, out.count);
  if (key == "seqs") return parse_sequences(value, out);
  if (key == "seed") {
    int64_t seed = 0;
    CS_RETURN_IF_ERROR(parse_int(key, value, seed));
    out.seed = static_cast<uint64_t>(seed);
    return {};
  }
  if (key == "keys") {
    if (value != "dim" && value != "token") return bad(key, value);
    out.key_order = value == "dim" ? ops::KvLayout::KeyOrder::kDimMajor : ops::KvLayout::KeyOrder::kTokenMajor;
    return {};
  }
  if (key == "kv") {
    CS_ASSIGN_OR_RETURN(out.kv_format, tensor::parse_format(value));
    return {};
  }
  taken = false;
  return {};
}

Result<Case> parse_one(const std::string& line) {
  Case out;
  out.line = line;
  int64_t context = 0;
  std::string desc;
  const std::vector<std::string> words = split(line, ' ');
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) return base::invalid_argument(format("'{}' is not of the form key=value", words[i]));
    bool taken = false;
    const std::string_view word = words[i];
    CS_RETURN_IF_ERROR(take_key(word.substr(0, equals), word.substr(equals + 1), out, context, taken));
    if (!taken) desc += words[i] + " ";
  }
  CS_ASSIGN_OR_RETURN(const ops::OpKind kind, ops::parse_op(words[0]));
  CS_ASSIGN_OR_RETURN(out.desc, ops::parse_desc(kind, desc));
  if (out.rows == 0) return base::invalid_argument("no rows: give rows= or seqs=");
  if (out.sequences.empty()) out.sequences.push_back({std::max<int64_t>(context - out.rows, 0), out.rows});
  return out;
}

}  // namespace

Result<std::vector<Case>> parse_cases(std::string_view line) {
  std::vector<Case> cases;
  for (const std::string& one : expand(line)) {
    Result<Case> parsed = parse_one(one);
    if (!parsed.ok()) return std::move(parsed).status().with_context(one);
    cases.push_back(std::move(*parsed));
  }
  return cases;
}

Result<std::vector<Case>> read_cases(const std::string& path) {
  std::ifstream file(path);
  if (!file) return base::not_found(format("cannot open {}", path));
  std::vector<Case> cases;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    Result<std::vector<Case>> parsed = parse_cases(line);
    if (!parsed.ok()) return std::move(parsed).status().with_context(path);
    for (Case& one : *parsed) cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace camshaft::opcheck
