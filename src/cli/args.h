// Command lines: a command says what it takes in tables; parsing, --help and docs/options.md come from them. Owner of CLI11:
// args.cc.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/status.h"

namespace camshaft::cli {

struct Positional {
  std::string name;  // "MODEL"
  std::string help;
  bool required = true;
  std::string* target = nullptr;
};

struct CommandSpec {
  std::string name;
  std::string help;  // one sentence
  std::vector<Positional> positionals;
  std::vector<base::Option> options;
  std::set<std::string>* given = nullptr;  // takes the names of the options that were said, where the command asks
};

enum class Parsed { kRun, kHelpShown };

// Sets defaults, then what `arguments` (without program and command name) say. Usage errors are invalid_argument.
Result<Parsed> parse_arguments(const CommandSpec& spec, std::span<char* const> arguments);

// One entry of the list in main.cc. The spec's targets live in a static state of the command's file only while it runs.
struct Command {
  std::string_view name;
  // Parses and does it; returns the process's exit code.
  int (*run)(std::span<char* const> arguments);
  // For help and the options page: the same table over throw-away values.
  CommandSpec (*describe)();
};
std::span<const Command> commands();

// Prints "camshaft COMMAND: message" and gives the exit code of hardening's table: 2 usage, 3 engine, 4 input/output, 5 checkpoint,
// 6 request, 70 device.
inline constexpr int kDeviceFault = 70;
inline constexpr int kInterrupted = 130;  // as shells count an end by SIGINT
enum class FailedThing { kUsage, kEngine, kCheckpoint, kRequest };
int report_failure(std::string_view command, const Status& status, FailedThing thing);

// Whether all that was printed so far has arrived.
Status flush_standard_output();

// A file that `option` names ("--text"); whatever keeps it from being read is an input/output error.
Result<std::string> read_input_file(std::string_view option, const std::string& path);

// Markdown of every command's table.
std::string options_page();

}  // namespace camshaft::cli
