#include "base/hash.h"

#include <gtest/gtest.h>

namespace camshaft::base {
namespace {

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

// XXH3-128 with seed 0, as `xxhsum -H2` prints it: files made on one machine are checked on another.
TEST(HashTest, KnownValues) {
  EXPECT_EQ(hash128({}).to_hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash128(as_bytes("a")).to_hex(), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hash128(as_bytes("abc")).to_hex(), "06b05ab6733a618578af5f94892f3950");
}

TEST(HashTest, PiecesHashLikeTheWhole) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>(i * 31);
  for (size_t cut : {size_t{0}, size_t{1}, size_t{239}, size_t{240}, size_t{1024}, text.size()}) {
    Hasher hasher;
    hasher.update(std::string_view(text).substr(0, cut));
    hasher.update(std::string_view(text).substr(cut));
    EXPECT_EQ(hasher.digest(), hash128(as_bytes(text))) << cut;
  }
}

TEST(HashTest, DigestDoesNotEndTheHasher) {
  Hasher hasher;
  hasher.update("ab");
  (void)hasher.digest();
  Hasher moved = std::move(hasher);
  moved.update("c");
  EXPECT_EQ(moved.digest(), hash128(as_bytes("abc")));
}

TEST(HashTest, OneBitChangesTheHash) {
  std::string text(100, 'x');
  const Hash128 before = hash128(as_bytes(text));
  text[50] ^= 1;
  EXPECT_NE(hash128(as_bytes(text)), before);
}

}  // namespace
}  // namespace camshaft::base
