// What the command line asks for.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "case.h"
#include "kernels/isa.h"

namespace camshaft::opcheck {

struct CheckOptions {
  std::string mode;    // list, correct, repeat, rows, perf, all
  std::string kernel;  // only this one; empty: every one
  std::string op;      // only this one
  kernels::Isa isa = kernels::Isa::kGeneric;
  int threads = 2;         // perf
  double seconds = 0.2;    // perf: a case and kernel
  bool with_ref = false;   // perf: the reference too
  bool only_new = false;   // kernels that the ISA class below runs too are left to the run under that cap
  bool every_case = true;  // nothing was filtered: a kernel that no case reached is a failure
  std::vector<Case> cases;
};

Result<CheckOptions> parse_options(const std::vector<std::string>& arguments);
const char* usage();

}  // namespace camshaft::opcheck
