// Hashes file contents piece by piece.
#include "checkpoint/content.h"

#include <algorithm>
#include <functional>

namespace camshaft::checkpoint {
namespace {

constexpr size_t kPiece = size_t{4} << 20;

void hash_size(base::Hasher& hasher, uint64_t size) { hasher.update(std::as_bytes(std::span(&size, 1))); }

}  // namespace

void hash_file(base::Hasher& hasher, const base::MappedFile& file) {
  hash_size(hasher, file.bytes().size());
  for (size_t at = 0; at < file.bytes().size(); at += kPiece) {
    const size_t size = std::min(kPiece, file.bytes().size() - at);
    hasher.update(file.bytes().subspan(at, size));
    file.drop_pages(at, size);
  }
}

void hash_text(base::Hasher& hasher, std::string_view text) {
  hash_size(hasher, text.size());
  hasher.update(text);
}

void drop_pages_of(const base::MappedFile& file, std::span<const std::byte> bytes) {
  const std::byte* begin = file.bytes().data();
  const std::less_equal<const std::byte*> not_after;
  if (bytes.empty() || !not_after(begin, bytes.data()) || !not_after(bytes.data() + bytes.size(), begin + file.bytes().size()))
    return;
  file.drop_pages(static_cast<size_t>(bytes.data() - begin), bytes.size());
}

}  // namespace camshaft::checkpoint
