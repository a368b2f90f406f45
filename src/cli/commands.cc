// The list of commands, in the order of the help.
#include "cli/commands.h"

namespace camshaft::cli {

std::span<const Command> commands() {
  static const Command list[] = {build_command(),   run_command(),      serve_command(),    bench_command(),
                                 inspect_command(), tokenize_command(), template_command(), score_command()};
  return list;
}

}  // namespace camshaft::cli
