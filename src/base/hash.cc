// Owner of xxHash (header only).
#include "base/hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/format.h"

namespace camshaft::base {
namespace {
Hash128 from_library(XXH128_hash_t hash) { return {.low = hash.low64, .high = hash.high64}; }
}  // namespace

std::string Hash128::to_hex() const { return format("{:016x}{:016x}", high, low); }

Hash128 hash128(std::span<const std::byte> bytes) { return from_library(XXH3_128bits(bytes.data(), bytes.size())); }

struct Hasher::State {
  XXH3_state_t xxh;
};

Hasher::Hasher() : state_(std::make_unique<State>()) { XXH3_128bits_reset(&state_->xxh); }
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

Hash128 Hasher::digest() const { return from_library(XXH3_128bits_digest(&state_->xxh)); }

}  // namespace camshaft::base
