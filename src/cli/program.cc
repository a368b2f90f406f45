// The commands by name, and what holds for all of them: standard streams that exist, output that arrived or is reported.
#include "cli/program.h"

#include <fcntl.h>
#include <unistd.h>

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

int dispatch(std::span<char* const> arguments) {
  if (arguments.size() < 2) {
    print_help();
    return 2;
  }
  const std::string_view name = arguments[1];
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
    if (command.name == name) return command.run(arguments.subspan(2));
  }
  std::fprintf(stderr, "camshaft: there is no command '%s'; see 'camshaft --help'\n", arguments[1]);
  return 2;
}

// A closed one's number would go to the next file that is opened, an engine perhaps. What stands in fails as a closed one does.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int run_program(std::span<char* const> arguments) {
  hold_standard_streams();
  const int code = dispatch(arguments);
  if (code != 0) return code;
  const Status arrived = flush_standard_output();
  return arrived.ok() ? 0 : report_failure(arguments.size() > 1 ? arguments[1] : "", arrived, FailedThing::kRequest);
}

}  // namespace camshaft::cli
