// Loops over a vocabulary of logits, written so that compilers vectorise them.
#pragma once

#include <cstdint>
#include <span>

namespace camshaft::runtime {

// Index of the largest value, the lowest on ties. NaN never wins.
int32_t argmax(std::span<const float> values);
bool all_finite(std::span<const float> values);
// out[i] = exp((values[i] - maximum) * scale), relative error below 2e-7; values far below give 0. Returns the sum in f64.
double exp_shifted(std::span<const float> values, float maximum, float scale, std::span<float> out);
// log(sum(exp(values))).
double log_sum_exp(std::span<const float> values, float maximum);

}  // namespace camshaft::runtime
