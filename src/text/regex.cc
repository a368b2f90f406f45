// Owner of PCRE2. The pattern comes from a model file and the text from a request, so every match has budgets.
#include "text/regex.h"

#include <pcre2.h>

#include <string>

#include "base/format.h"

namespace camshaft::text {

namespace {

constexpr size_t kMaxPatternBytes = 64 << 10;
constexpr uint32_t kMatchLimit = 10'000'000;
constexpr uint32_t kDepthLimit = 100'000;
constexpr uint32_t kHeapLimitKib = 64 << 10;
constexpr size_t kJitStackBytes = 1 << 20;

// White_Space of Unicode. PCRE2's own \s also counts U+180E.
constexpr std::string_view kSpaceRanges =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
// PCRE2 before 10.43 leaves marks out of \w.
constexpr std::string_view kWordRanges = R"(\p{L}\p{M}\p{Nd}\p{Pc})";

std::string bracketed(std::string_view ranges, bool inside_class, bool negated) {
  if (inside_class) return std::string(ranges);
  std::string out = negated ? "[^" : "[";
  out += ranges;
  out += ']';
  return out;
}

// Writes \s, \S and \w as explicit sets. A \S inside a class has no such form and stays.
std::string spell_out_classes(std::string_view pattern) {
  std::string out;
  bool inside = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      if (next == 's') {
        out += bracketed(kSpaceRanges, inside, false);
      } else if (next == 'w') {
        out += bracketed(kWordRanges, inside, false);
      } else if (next == 'S' && !inside) {
        out += bracketed(kSpaceRanges, false, true);
      } else {
        out += {c, next};
      }
      continue;
    }
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    out += c;
  }
  return out;
}

std::string error_text(int code) {
  PCRE2_UCHAR buffer[160];
  pcre2_get_error_message(code, buffer, sizeof(buffer));
  return reinterpret_cast<const char*>(buffer);
}

}  // namespace

struct Regex::Impl {
  pcre2_code* code = nullptr;
  ~Impl() { pcre2_code_free(code); }
};

struct Regex::Scratch::Impl {
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  pcre2_jit_stack* jit_stack = nullptr;
  ~Impl() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(jit_stack);
  }
};

Regex::Regex(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Regex::Scratch::Scratch(Scratch&&) noexcept = default;
Regex::Scratch::~Scratch() = default;
Regex::Scratch::Scratch(const Regex& regex) : impl_(std::make_unique<Impl>()) {
  impl_->data = pcre2_match_data_create_from_pattern(regex.impl_->code, nullptr);
  impl_->context = pcre2_match_context_create(nullptr);
  impl_->jit_stack = pcre2_jit_stack_create(32 << 10, kJitStackBytes, nullptr);
  if (impl_->context == nullptr) return;
  pcre2_set_match_limit(impl_->context, kMatchLimit);
  pcre2_set_depth_limit(impl_->context, kDepthLimit);
  pcre2_set_heap_limit(impl_->context, kHeapLimitKib);
  pcre2_jit_stack_assign(impl_->context, nullptr, impl_->jit_stack);
}

Result<Regex> Regex::make(std::string_view pattern) {
  if (pattern.size() > kMaxPatternBytes) {
    return base::resource_exhausted(
        format("pre-tokenizer pattern has {} bytes, the limit is {}", pattern.size(), kMaxPatternBytes));
  }
  const std::string spelled = spell_out_classes(pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  auto impl = std::make_unique<Impl>();
  impl->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(spelled.data()), spelled.size(),
                             PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &offset, nullptr);
  if (impl->code == nullptr) {
    return base::invalid_argument(format("pre-tokenizer pattern '{}' does not compile: {}", pattern, error_text(error)));
  }
  pcre2_jit_compile(impl->code, PCRE2_JIT_COMPLETE);  // where there is no JIT the interpreter matches the same
  return Regex(std::move(impl));
}

Result<Regex::Match> Regex::find(std::string_view text, size_t from, Scratch& scratch) const {
  Scratch::Impl& s = *scratch.impl_;
  if (s.data == nullptr || s.context == nullptr) return base::resource_exhausted("no memory for matching a pre-tokenizer pattern");
  const int count = pcre2_match(impl_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
                                PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY, s.data, s.context);
  if (count == PCRE2_ERROR_NOMATCH) return Match{text.size(), text.size()};
  if (count < 0) {
    return base::resource_exhausted(
        format("pre-tokenizer pattern gave up at byte {} of {}: {}", from, text.size(), error_text(count)));
  }
  const PCRE2_SIZE* where = pcre2_get_ovector_pointer(s.data);
  if (where[0] < from || where[1] <= where[0]) return Match{text.size(), text.size()};  // \K in the pattern can do that
  return Match{where[0], where[1]};
}

}  // namespace camshaft::text
