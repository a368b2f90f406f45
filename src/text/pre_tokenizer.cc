// Choosing a scanner for each step and running the steps one after the other over the pieces of the one before.
#include "text/pre_tokenizer.h"

#include <string>

#include "base/format.h"
#include "text/pre_tokenizer_scanners.h"

namespace camshaft::text {

namespace {

constexpr size_t kMaxSteps = 32;

constexpr std::string_view kGpt2Tail = R"(| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
constexpr std::string_view kGpt2Heads[] = {R"('s|'t|'re|'ve|'m|'ll|'d)", R"('(?:[sdmt]|ll|ve|re))"};

bool is_gpt2(std::string_view pattern) {
  for (const std::string_view head : kGpt2Heads) {
    // The last alternative may be missing: what it takes is then a gap, with the same borders.
    const std::string shorter = std::string(head) + std::string(kGpt2Tail);
    if (pattern == shorter || pattern == shorter + R"(|\s+)") return true;
  }
  return false;
}

struct Contractions {
  std::string_view text;
  bool fold_long_s;
};
constexpr Contractions kContractions[] = {
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d))", true},
    {R"('(?i:[sdmt]|ll|ve|re))", true},
    {R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]))", false},
};
struct Digits {
  std::string_view text;
  int max;
};
constexpr Digits kDigits[] = {{R"(\p{N}{1,3})", 3}, {R"(\p{N})", 1}, {R"(\p{N}+)", 0}};
constexpr std::string_view kCl100kWord = R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)";
constexpr std::string_view kCl100kWordPossessive = R"(|[^\r\n\p{L}\p{N}]?+\p{L}+|)";
constexpr std::string_view kCl100kTail = R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kCl100kTailPossessive = R"(| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
// With one line break at the end: \s* before it is greedy, so the match ends at the same place.
constexpr std::string_view kCl100kTailSingle = R"(| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";

bool take(std::string_view& rest, std::string_view front) {
  if (!rest.starts_with(front)) return false;
  rest.remove_prefix(front.size());
  return true;
}

bool is_cl100k_tail(std::string_view rest) {
  return rest == kCl100kTail || rest == kCl100kTailPossessive || rest == kCl100kTailSingle;
}

}  // namespace

bool PreTokenizer::recognise(std::string_view pattern, Step& step) {
  step.scanner = Scanner::kGpt2;
  if (is_gpt2(pattern)) return true;
  step.scanner = Scanner::kCl100k;
  for (const Contractions& contractions : kContractions) {
    for (const Digits& digits : kDigits) {
      std::string_view rest = pattern;
      if (!take(rest, contractions.text) || (!take(rest, kCl100kWord) && !take(rest, kCl100kWordPossessive))) continue;
      if (!take(rest, digits.text) || !is_cl100k_tail(rest)) continue;
      step.max_digits = digits.max;
      step.fold_long_s = contractions.fold_long_s;
      return true;
    }
  }
  return false;
}

Result<PreTokenizer::Step> PreTokenizer::make_step(const api::PreTokenizerStep& spec) {
  using Kind = api::PreTokenizerStep::Kind;
  Step step;
  step.individual = spec.individual;
  switch (spec.kind) {
    case Kind::kByteLevelGpt2: step.scanner = Scanner::kGpt2; return step;
    case Kind::kDigits: step.scanner = Scanner::kDigits; return step;
    case Kind::kPunctuation: step.scanner = Scanner::kPunctuation; return step;
    case Kind::kSplitIsolated: break;
  }
  if (recognise(spec.pattern, step)) return step;
  step.scanner = Scanner::kRegex;
  CS_ASSIGN_OR_RETURN(Regex regex, Regex::make(spec.pattern));
  step.regex.push_back(std::move(regex));
  return step;
}

Result<PreTokenizer> PreTokenizer::make(const std::vector<api::PreTokenizerStep>& steps) {
  if (steps.size() > kMaxSteps) {
    return base::resource_exhausted(format("pre-tokenizer has {} steps, the limit is {}", steps.size(), kMaxSteps));
  }
  PreTokenizer made;
  for (const api::PreTokenizerStep& spec : steps) {
    CS_ASSIGN_OR_RETURN(Step step, make_step(spec));
    if (step.scanner == Scanner::kRegex) step.scratch_index = made.num_regexes_++;
    made.steps_.push_back(std::move(step));
  }
  return made;
}

PreTokenizer::Scratch::Scratch(const PreTokenizer& owner) {
  for (const Step& step : owner.steps_) {
    if (step.scanner == Scanner::kRegex) regexes.emplace_back(step.regex[0]);
  }
}

Status PreTokenizer::cut(std::string_view text, Scratch& scratch) const {
  scratch.ends.clear();
  if (text.empty()) return base::ok_status();
  if (text.size() > UINT32_MAX)
    return base::resource_exhausted(format("a text of {} bytes is past the limit of 4 GiB", text.size()));
  scratch.ends.push_back(static_cast<uint32_t>(text.size()));
  for (const Step& step : steps_) {
    scratch.next_ends.clear();
    uint32_t begin = 0;
    for (const uint32_t end : scratch.ends) {
      CS_RETURN_IF_ERROR(run(step, text.substr(begin, end - begin), begin, scratch));
      begin = end;
    }
    scratch.ends.swap(scratch.next_ends);
  }
  return base::ok_status();
}

namespace {

Status scan_regex(const Regex& regex, std::string_view piece, uint32_t base, Regex::Scratch& scratch, std::vector<uint32_t>& ends) {
  for (size_t at = 0; at < piece.size();) {
    CS_ASSIGN_OR_RETURN(const Regex::Match match, regex.find(piece, at, scratch));
    if (match.begin > at) ends.push_back(base + static_cast<uint32_t>(match.begin));
    if (match.end > match.begin) ends.push_back(base + static_cast<uint32_t>(match.end));
    at = match.end;
  }
  return base::ok_status();
}

}  // namespace

Status PreTokenizer::run(const Step& step, std::string_view piece, uint32_t base, Scratch& scratch) const {
  std::vector<uint32_t>& ends = scratch.next_ends;
  switch (step.scanner) {
    case Scanner::kRegex: return scan_regex(step.regex[0], piece, base, scratch.regexes[step.scratch_index], ends);
    case Scanner::kGpt2: scan_gpt2(piece, base, ends); break;
    case Scanner::kCl100k: scan_cl100k(piece, base, step.max_digits, step.fold_long_s, ends); break;
    case Scanner::kDigits: scan_digits(piece, base, step.individual, ends); break;
    case Scanner::kPunctuation: scan_punctuation(piece, base, ends); break;
  }
  return base::ok_status();
}

}  // namespace camshaft::text
