// WordIndex: byte strings to ids, built once, then read by any thread. Open addressing over one arena of bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft::text {

class WordIndex {
 public:
  explicit WordIndex(size_t expected) : slots_(size_for(expected)), mask_(slots_.size() - 1) {}

  // The first id of a word stays.
  void insert(std::string_view word, int32_t id) {
    const uint64_t h = hash(word);
    Slot& slot = slots_[slot_of(word, h)];
    if (slot.id >= 0) return;
    slot = {static_cast<uint32_t>(h >> 32), id, arena_.size(), static_cast<uint32_t>(word.size())};
    arena_ += word;
  }
  // -1 when there is none.
  int32_t find(std::string_view word) const { return slots_[slot_of(word, hash(word))].id; }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t id = -1;  // below 0: empty
    uint64_t offset = 0;
    uint32_t size = 0;
  };
  // At most `expected` inserts keep the table at most half full.
  static size_t size_for(size_t expected) {
    size_t size = 16;
    while (size < expected * 2) size *= 2;
    return size;
  }
  static uint64_t mix(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD1B54A32D192ED03u);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  static uint64_t load(const char* p, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, p, size);
    return word;
  }
  static uint64_t hash(std::string_view word) {
    uint64_t h = word.size();
    const char* p = word.data();
    size_t left = word.size();
    for (; left > 8; left -= 8, p += 8) h = mix(h, load(p, 8));
    return mix(h, load(p, left));
  }
  size_t slot_of(std::string_view word, uint64_t h) const {
    const auto tag = static_cast<uint32_t>(h >> 32);
    for (size_t i = h & mask_;; i = (i + 1) & mask_) {
      const Slot& slot = slots_[i];
      if (slot.id < 0) return i;
      if (slot.tag == tag && slot.size == word.size() && std::memcmp(arena_.data() + slot.offset, word.data(), word.size()) == 0) {
        return i;
      }
    }
  }

  std::vector<Slot> slots_;
  size_t mask_;
  std::string arena_;
};

}  // namespace camshaft::text
