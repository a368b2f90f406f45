// camshaft COMMAND ...: finds the command and hands it the rest.
#include <csignal>
#include <cstdio>
#include <string_view>

#include "cli/commands.h"
#include "cli/version.h"

namespace camshaft::cli {

namespace {

void print_help() {
  std::puts("camshaft: compiles language models ahead of time and serves them as token streams\n");
  for (const Command& command : commands()) {
    const CommandSpec spec = command.describe();
    std::printf("  %-10s %s\n", spec.name.c_str(), spec.help.c_str());
  }
  std::puts("\n'camshaft COMMAND --help' says more; 'camshaft --version' tells the version.");
}

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    print_help();
    return 2;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h" || name == "help") {
    print_help();
    return 0;
  }
  if (name == "--version") {
    std::printf("camshaft %.*s\n", static_cast<int>(kVersion.size()), kVersion.data());
    return 0;
  }
  if (name == "options") {
    std::fputs(options_page().c_str(), stdout);
    return 0;
  }
  for (const Command& command : commands()) {
    if (command.name == name) return command.run(std::span<char* const>(argv + 2, static_cast<size_t>(argc - 2)));
  }
  std::fprintf(stderr, "camshaft: there is no command '%s'; see 'camshaft --help'\n", argv[1]);
  return 2;
}

}  // namespace
}  // namespace camshaft::cli

int main(int argc, char** argv) {
  // A reader that went away is an error of that write, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that grows past the shell's limit, and what was begun is removed.
  std::signal(SIGXFSZ, SIG_IGN);
  return camshaft::cli::dispatch(argc, argv);
}
