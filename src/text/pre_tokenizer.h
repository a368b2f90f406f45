// PreTokenizer: cuts text into the words that byte-level merging never crosses. Well-known patterns have hand-written scanners,
// chosen by the pattern's text; every other pattern runs through PCRE2.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "api/tokenizer_spec.h"
#include "base/status.h"
#include "text/regex.h"

namespace camshaft::text {

class PreTokenizer {
 public:
  static Result<PreTokenizer> make(const std::vector<api::PreTokenizerStep>& steps);

  // A caller's working memory; one a thread, for one PreTokenizer.
  struct Scratch {
    explicit Scratch(const PreTokenizer& owner);
    std::vector<uint32_t> ends, next_ends;
    std::vector<Regex::Scratch> regexes;  // by step, for regex steps only
  };
  // The word ends (bytes, ascending, the last is text.size()) stand in scratch.ends. `text` is valid UTF-8 below 4 GiB.
  Status cut(std::string_view text, Scratch& scratch) const;

  // What a step runs: for tests and --why.
  enum class Scanner : uint8_t { kRegex, kGpt2, kCl100k, kDigits, kPunctuation };
  Scanner scanner(size_t step) const { return steps_[step].scanner; }

 private:
  struct Step {
    Scanner scanner;
    bool individual = true;         // kDigits
    int max_digits = 0;             // kCl100k: 0 is any number
    bool fold_long_s = false;       // kCl100k: 's also with U+017F, as caseless Unicode matching has it
    std::vector<Regex> regex = {};  // kRegex: one
    size_t scratch_index = 0;       // kRegex
  };
  static Result<Step> make_step(const api::PreTokenizerStep& step);
  static bool recognise(std::string_view pattern, Step& step);
  Status run(const Step& step, std::string_view piece, uint32_t base, Scratch& scratch) const;

  std::vector<Step> steps_;
  size_t num_regexes_ = 0;
};

}  // namespace camshaft::text
