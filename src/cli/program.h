// The program behind main: finds the command, and sees at the end that what was printed has arrived.
#pragma once

#include <span>

namespace camshaft::cli {

// `arguments` begin with the program's name. Returns the exit code.
int run_program(std::span<char* const> arguments);

}  // namespace camshaft::cli
