// Hashing mapped files without keeping their pages resident. Inside the room only.
#pragma once

#include "base/hash.h"
#include "base/mapped_file.h"
#include "tensor/tensor_view.h"

namespace camshaft::checkpoint {

// Feeds the file's size and bytes; pages already hashed are given back on the way.
void hash_file(base::Hasher& hasher, const base::MappedFile& file);
// Size and bytes of a small part.
void hash_text(base::Hasher& hasher, std::string_view text);
// Gives back the pages of `bytes` if they lie inside `file`.
void drop_pages_of(const base::MappedFile& file, std::span<const std::byte> bytes);

}  // namespace camshaft::checkpoint
