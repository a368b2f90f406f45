// What each token stands for, and the checks every specification passes before anything is built from it.
#pragma once

#include <string>
#include <vector>

#include "api/tokenizer_spec.h"
#include "base/status.h"

namespace camshaft::text {

// Sizes, ids and UTF-8 of the specification; errors name the entry.
Status check_spec(const api::TokenizerSpec& spec);

// Bytes by id, as decoding writes them. The specification is checked.
std::vector<std::string> bytes_of_tokens(const api::TokenizerSpec& spec);

}  // namespace camshaft::text
