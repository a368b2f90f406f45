// reference_run MODEL REFERENCE.json [--all] [--best ISA]: for each prompt of a reference file the first step's error and how many
// greedy ids agree (8 steps, or all of them). Exits with 1 where an error is over 1e-3 or an id differs.
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include "oracle.h"

namespace camshaft::golden {
namespace {

struct Arguments {
  std::string model, reference;
  bool all = false;
  interp::InterpOptions options;
};

Result<Arguments> read_arguments(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--all") {
      out.all = true;
    } else if (word == "--best" && i + 1 < argc) {
      out.options.kernels = interp::InterpOptions::Kernels::kBest;
      CS_ASSIGN_OR_RETURN(out.options.isa, kernels::parse_isa(argv[++i]));
    } else if (out.model.empty()) {
      out.model = word;
    } else {
      out.reference = word;
    }
  }
  if (out.reference.empty()) return base::invalid_argument("usage: reference_run MODEL REFERENCE.json [--all] [--best ISA]");
  out.options.num_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return out;
}

// Whether the prompt's answer is the reference's.
Result<bool> check_prompt(Oracle& oracle, const ReferencePrompt& prompt, size_t steps) {
  const auto start = std::chrono::steady_clock::now();
  CS_ASSIGN_OR_RETURN(const Greedy greedy, run_greedy(*oracle.interpreter, prompt.prompt_ids, steps));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  size_t same = 0;
  while (same < steps && greedy.ids[same] == prompt.greedy_ids[same]) ++same;
  const double error = top5_error(greedy.first_logits, prompt);
  std::printf("%-24s %5zu tokens in, first top-5 error %.2e, %zu of %zu ids equal, %.1f s\n", prompt.name.c_str(),
              prompt.prompt_ids.size(), error, same, steps, seconds);
  std::fflush(stdout);
  return error <= 1e-3 && same == steps;
}

Result<bool> run(int argc, char** argv) {
  CS_ASSIGN_OR_RETURN(const Arguments arguments, read_arguments(argc, argv));
  CS_ASSIGN_OR_RETURN(const std::vector<ReferencePrompt> prompts, read_reference(arguments.reference));
  CS_ASSIGN_OR_RETURN(Oracle oracle, open_oracle(arguments.model, arguments.options));
  bool good = true;
  for (const ReferencePrompt& prompt : prompts) {
    const size_t steps = arguments.all ? prompt.greedy_ids.size() : std::min<size_t>(8, prompt.greedy_ids.size());
    CS_ASSIGN_OR_RETURN(const bool same, check_prompt(oracle, prompt, steps));
    good = good && same;
  }
  return good;
}

}  // namespace
}  // namespace camshaft::golden

int main(int argc, char** argv) {
  const auto good = camshaft::golden::run(argc, argv);
  if (!good.ok()) std::fprintf(stderr, "%s\n", good.status().to_string().c_str());
  return good.ok() && *good ? 0 : 1;
}
