// Limits of vocabularies (hardening.md, section 2). Inside the room only.
#pragma once

#include <cstdint>

namespace camshaft::checkpoint {

inline constexpr uint64_t kMaxTokenizerBytes = uint64_t{256} << 20;
inline constexpr uint64_t kMaxTokenizerValues = uint64_t{16} << 20;  // JSON values of a tokenizer file
inline constexpr uint64_t kMaxVocabulary = uint64_t{2} << 20;
inline constexpr uint64_t kMaxMerges = uint64_t{4} << 20;
inline constexpr uint64_t kMaxTemplateBytes = uint64_t{256} << 10;

}  // namespace camshaft::checkpoint
