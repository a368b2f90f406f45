// tokenizer.ggml.pre names to splitting steps. The names are llama.cpp's (facts of src/llama-vocab.cpp and of the models'
// tokenizer.json files); a name stands here only where its steps are known for certain.
#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/format.h"
#include "checkpoint/gguf_vocabulary.h"

namespace camshaft::checkpoint {
namespace {

using Step = api::PreTokenizerStep;

// Each pattern cuts what the one before left in one piece.
constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S))";
constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kUpToThreeDigits = R"(\p{N}{1,3})";
constexpr std::string_view kThreeAsciiDigits = "[0-9][0-9][0-9]";
#define CS_CONTRACTIONS R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]))"
#define CS_SPACES R"(\s*[\r\n]+|\s+(?!\S)|\s+)"
constexpr std::string_view kLlama3 = CS_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" CS_SPACES;
constexpr std::string_view kQwen2 = CS_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" CS_SPACES;
constexpr std::string_view kQwen35 =
    CS_CONTRACTIONS R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" CS_SPACES;
// Words as an upper-case run followed by a lower-case one; letters without case belong to both.
#define CS_UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define CS_LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define CS_LEAD R"([^\r\n\p{L}\p{N}]?)"
constexpr std::string_view kTekken =
    CS_LEAD CS_UPPER "*" CS_LOWER "+|" CS_LEAD CS_UPPER "+" CS_LOWER R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" CS_SPACES;
constexpr std::string_view kGpt4o = CS_LEAD CS_UPPER "*" CS_LOWER "+" CS_CONTRACTIONS "?|" CS_LEAD CS_UPPER "+" CS_LOWER
                                                     "*" CS_CONTRACTIONS R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" CS_SPACES;
constexpr std::string_view kDeepseek3Han = R"([一-龥぀-ゟ゠-ヿ]+)";
constexpr std::string_view kDeepseek3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" CS_SPACES;
constexpr std::string_view kCjk = R"([一-龥ࠀ-一가-퟿]+)";

struct Entry {
  std::initializer_list<std::string_view> names;
  std::initializer_list<std::string_view> patterns;
  bool ignore_merges = false;
  bool add_bos = false;
};

const Entry* find_entry(std::string_view name) {
  static const Entry kEntries[] = {
      {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "gigachat", "a.x-4.0", "mellum", "trillion", "granite-docling", "exaone4"},
       {kGpt2}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"}, {kDigit, kGpt2}},
      {{"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}, {kLlama3}, true, true},
      {{"dbrx", "smaug-bpe", "chatglm-bpe"}, {kLlama3}},
      {{"glm4"}, {kLlama3}, true},
      {{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "kormo", "solar-open", "grok-2"}, {kQwen2}},
      {{"qwen35"}, {kQwen35}},
      {{"tekken"}, {kTekken}, true, true},
      {{"gpt-4o", "llama4", "kanana2", "minimax-m2"}, {kGpt4o}},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm"}, {kUpToThreeDigits, kDeepseek3Han, kDeepseek3}},
      {{"deepseek-coder"}, {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kCjk, kDigit}},
      {{"falcon"}, {R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, kThreeAsciiDigits}},
      {{"default"}, {R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)", kThreeAsciiDigits}},
  };
  const Entry* found = std::find_if(std::begin(kEntries), std::end(kEntries), [name](const Entry& entry) {
    return std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end();
  });
  return found == std::end(kEntries) ? nullptr : found;
}

Step step_of(std::string_view pattern) {
  if (pattern == kGpt2) return {Step::Kind::kByteLevelGpt2, "", true};
  if (pattern == kDigit) return {Step::Kind::kDigits, "", true};
  return {Step::Kind::kSplitIsolated, std::string(pattern), true};
}

}  // namespace

Result<GgufPreTokenizer> gguf_pre_tokenizer(std::string_view name) {
  const Entry* entry = find_entry(name);
  if (entry == nullptr) {
    return base::unimplemented(format(
        "tokenizer.ggml.pre is '{}', a way of splitting text that is not supported; a tokenizer.json of the same model would do",
        name));
  }
  GgufPreTokenizer result{{}, entry->ignore_merges, entry->add_bos};
  for (std::string_view pattern : entry->patterns) result.steps.push_back(step_of(pattern));
  return result;
}

}  // namespace camshaft::checkpoint
