// camshaft COMMAND ...
#include <csignal>

#include "cli/program.h"

int main(int argc, char** argv) {
  // A reader that went away is an error of that write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that grows past the shell's limit, and what was begun is removed.
  std::signal(SIGXFSZ, SIG_IGN);
  return camshaft::cli::run_program({argv, static_cast<size_t>(argc)});
}
