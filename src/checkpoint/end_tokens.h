// Which ids end a generation. Inside the room only.
#pragma once

#include <cstdint>
#include <vector>

#include "api/tokenizer_spec.h"

namespace camshaft::checkpoint {

// `first` (eos and what the files name, in their order), then every control token whose text is a known end marker, by id.
std::vector<int32_t> find_end_ids(const api::TokenizerSpec& spec, const std::vector<int32_t>& first);

}  // namespace camshaft::checkpoint
