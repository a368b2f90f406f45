// The commands, a file each.
#pragma once

#include "cli/args.h"

namespace camshaft::cli {

const Command& build_command();
const Command& run_command();
const Command& serve_command();
const Command& bench_command();
const Command& inspect_command();
const Command& tokenize_command();
const Command& template_command();
const Command& score_command();

}  // namespace camshaft::cli
