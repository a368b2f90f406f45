// Regex: a pre-tokenizer pattern from a model file, compiled by PCRE2 (seen only in regex.cc) with limits on steps, depth and heap.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/status.h"

namespace camshaft::text {

class Regex {
 public:
  // \s, \S and \w mean what Oniguruma (the library behind tokenizer.json) means by them.
  static Result<Regex> make(std::string_view pattern);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // A caller's working memory; one a thread.
  class Scratch {
   public:
    explicit Scratch(const Regex& regex);
    ~Scratch();
    Scratch(Scratch&&) noexcept;

   private:
    friend class Regex;
    struct Impl;
    std::unique_ptr<Impl> impl_;
  };

  struct Match {
    size_t begin, end;  // bytes; begin == text.size() when there is no match
  };
  // The first non-empty match at or after `from`; look-behind sees the text before it. `text` is valid UTF-8.
  Result<Match> find(std::string_view text, size_t from, Scratch& scratch) const;

 private:
  struct Impl;
  explicit Regex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::text
