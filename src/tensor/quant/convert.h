// From one storage format to another, row by row: exactly where the target can hold it, else to the nearest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/quant_format.h"

namespace camshaft::tensor {

// Both formats define the same bytes: a view may simply change its name.
bool same_bytes(Format from, Format to);
// Every value of `from` is a value of `to`, and convert_row() gives it.
bool converts_exactly(Format from, Format to);
// n elements, a multiple of both formats' blocks. `scratch` holds n floats.
void convert_row(Format from, const std::byte* in, Format to, std::byte* out, int64_t n, float* scratch);

}  // namespace camshaft::tensor
