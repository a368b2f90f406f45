// The hand-written pre-tokenizer scanners. Each appends the ends of the pieces it cuts `text` (valid UTF-8) into, plus `base`.
// Each is linear: no character is looked at more than a few times.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace camshaft::text {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
void scan_gpt2(std::string_view text, uint32_t base, std::vector<uint32_t>& ends);

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,max_digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// max_digits 0: \p{N}+.
void scan_cl100k(std::string_view text, uint32_t base, int max_digits, bool fold_long_s, std::vector<uint32_t>& ends);

// \p{N} (individual) or \p{N}+, and the gaps.
void scan_digits(std::string_view text, uint32_t base, bool individual, std::vector<uint32_t>& ends);

// Runs of punctuation, and the gaps.
void scan_punctuation(std::string_view text, uint32_t base, std::vector<uint32_t>& ends);

}  // namespace camshaft::text
