// Comparing outputs: within the bounds of the op and its types, or bit for bit.
#pragma once

#include <string>

#include "runner.h"

namespace camshaft::opcheck {

// Empty when `actual` is within the bounds around `expected`; else what differs, where, and by how much.
std::string compare_close(const Problem& problem, const Outputs& actual, const Outputs& expected);
// Empty when the bits agree, padding and cache included.
std::string compare_bits(const Outputs& actual, const Outputs& expected);

}  // namespace camshaft::opcheck
