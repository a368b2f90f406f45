// engine_reference MODEL REFERENCE.json: for f32 and keep, each prompt's first-step error beside llama.cpp's on the same file, and
// how many of 48 greedy ids equal the f32 reference. Exit code 1 where the project's accuracy bar is missed.
#include <algorithm>
#include <cstdio>

#include "engine_support.h"

namespace {

using namespace camshaft;
using namespace camshaft::engine_tests;

size_t equal_prefix(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

Result<bool> run(const char* model, const char* reference_file, compiler::Precision precision, bool greedy_must_match) {
  CS_ASSIGN_OR_RETURN(const auto reference, read_reference(reference_file));
  compiler::CompileOptions options;
  options.precision = precision;
  options.isa = kernels::detect_isa();
  options.kv_format = precision == compiler::Precision::kF32 ? tensor::Format::kF32 : tensor::Format::kF16;
  CS_ASSIGN_OR_RETURN(const auto runner, compile_and_open(model, options, {.max_seqs = 1, .max_seq_len = 2048}));
  bool good = true;
  for (const ReferencePrompt& prompt : reference) {
    const std::vector<int32_t> last = {static_cast<int32_t>(prompt.prompt_ids.size()) - 1};
    CS_ASSIGN_OR_RETURN(const auto logits, runner->logits(prompt.prompt_ids, last));
    CS_ASSIGN_OR_RETURN(const auto ids, run_greedy(*runner, prompt.prompt_ids, prompt.greedy_ids.size()));
    const double error = top_error(logits, prompt.top5);
    const double bar = precision == compiler::Precision::kF32 ? 1e-3 : top_error(prompt.quantised_top5, prompt.top5);
    const size_t equal = equal_prefix(ids, prompt.greedy_ids);
    const bool ok = error <= bar && (!greedy_must_match || equal == prompt.greedy_ids.size());
    good = good && ok;
    std::printf("%-5s %-18s error %.6f (bar %.6f)  greedy %zu of %zu%s\n", std::string(compiler::precision_name(precision)).c_str(),
                prompt.name.c_str(), error, bar, equal, prompt.greedy_ids.size(), ok ? "" : "  MISSED");
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: engine_reference MODEL REFERENCE.json\n");
    return 2;
  }
  bool good = true;
  for (const auto precision : {compiler::Precision::kF32, compiler::Precision::kKeep}) {
    const auto result = run(argv[1], argv[2], precision, precision == compiler::Precision::kF32);
    if (!result.ok()) {
      std::fprintf(stderr, "engine_reference: %s\n", result.status().to_string().c_str());
      return 2;
    }
    good = good && *result;
  }
  return good ? 0 : 1;
}
