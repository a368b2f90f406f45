// opcheck: every kernel against the reference and against itself, over cases that are lines of text.
#include <cstdio>

#include "modes.h"

int main(int argc, char** argv) {
  using namespace camshaft;
  constexpr int kSkipped = 77;  // what CTest takes for "not here"
  const Result<opcheck::CheckOptions> options = opcheck::parse_options({argv + 1, argv + argc});
  if (!options.ok()) {
    fprintf(stderr, "%s\n", options.status().message().c_str());
    return 2;
  }
  const std::vector<std::string> missing = kernels::missing_features(options->isa);
  if (!missing.empty()) {
    printf("skipped: this machine lacks %s\n", missing[0].c_str());
    return kSkipped;
  }
  return opcheck::run_modes(*options) == 0 ? 0 : 1;
}
