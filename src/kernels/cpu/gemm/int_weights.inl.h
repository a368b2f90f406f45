// Blocks of quantised weights as vectors. Included inside the namespace of an instruction set, after lanes_*.inl.h.
//
// A tile takes `kGroups` groups at once, as kVectors vectors of Lanes::kCount outputs; vector v lies in group v / kParts.

inline constexpr int kParts = 16 / Lanes::kCount;  // vectors a group
template <class W>
inline constexpr int kVectors = W::kGroups * kParts;

// Where one block of the first group lies; the same block of the next group is `*_step` bytes further.
struct BlockSource {
  const std::byte* quants;
  int64_t quants_step;
  const std::byte* scales;  // 16 f16 d; then, for i4b32m, 16 f16 m
  int64_t scales_step;
};

// Blocks ahead of the one in work that are asked for, enough to hide the memory's latency at the rate of one core.
inline constexpr int64_t kBlocksAhead = 12;

inline void prefetch(const std::byte* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += 64) _mm_prefetch(reinterpret_cast<const char*>(from) + at, _MM_HINT_T0);
}

// Asks for what the groups in work need kBlocksAhead blocks later: past the end of a group that is the next groups' beginning.
template <int kGroups>
inline void prefetch_ahead(const ComputeArgs& a, const std::byte* block, int64_t b, int64_t block_bytes) {
  const int64_t ahead = smaller(kBlocksAhead, a.blocks) * block_bytes;
  const int64_t skipped = b + kBlocksAhead < a.blocks ? 0 : (kGroups - 1) * a.group_bytes;
#pragma GCC unroll 2
  for (int g = 0; g < kGroups; ++g) prefetch(block + ahead + skipped + g * a.group_bytes, block_bytes);
}

template <class W>
inline Lanes::F load_scale(const BlockSource& source, int v, int offset) {
  return Lanes::load_f16(source.scales + v / kParts * source.scales_step + offset + v % kParts * Lanes::kCount * 2);
}
inline const std::byte* quants_at(const BlockSource& source, int v, int j) {
  return source.quants + v / kParts * source.quants_step + 64 * j + v % kParts * Lanes::kCount * 4;
}

// The same block; the compiler may not know it, where loading again is cheaper than keeping all vectors of a block.
inline BlockSource load_again(BlockSource source) {
  asm("" : "+r"(source.quants));
  return source;
}

// Nibbles as they are packed: quads j and j + 4 in one vector.
template <int kGroupsAtOnce>
struct PackedI4 {
  static constexpr int kGroups = kGroupsAtOnce;
  static constexpr bool kMinimum = true;  // and no offset
  static constexpr bool kNibbles = true;
  static constexpr bool kKeep = true;  // unpacked once a block, even if that fills more than the registers
  static BlockSource block(const ComputeArgs& a, int64_t group, int64_t b) {
    const std::byte* at = a.weights + group * a.group_bytes + b * kI4BlockBytes;
    prefetch_ahead<kGroups>(a, at, b, kI4BlockBytes);
    return {at + 64, a.group_bytes, at, a.group_bytes};
  }
  [[gnu::always_inline]] static void load_quads(const BlockSource& source, int j, Lanes::I (&w)[kGroups * kParts],
                                                Lanes::I (&w4)[kGroups * kParts]) {
    const Lanes::I mask = Lanes::int_set(0x0F0F0F0F);
#pragma GCC unroll 2
    for (int v = 0; v < kGroups * kParts; ++v) {
      const Lanes::I bytes = Lanes::int_load(quants_at(source, v, j));
      w[v] = Lanes::int_and(bytes, mask);
      w4[v] = Lanes::int_and(Lanes::shift_right16<4>(bytes), mask);
    }
  }
};

// Bytes as they are packed, or as they were unpacked from nibbles: quad j in a vector of its own.
template <int kGroupsAtOnce>
struct Bytes {
  static constexpr int kGroups = kGroupsAtOnce;
  static constexpr bool kKeep = false;
  [[gnu::always_inline]] static void load_quads(const BlockSource& source, int j, Lanes::I (&w)[kGroups * kParts],
                                                Lanes::I (&w4)[kGroups * kParts]) {
#pragma GCC unroll 2
    for (int v = 0; v < kGroups * kParts; ++v) {
      w[v] = Lanes::int_load(quants_at(source, v, j));
      w4[v] = Lanes::int_load(quants_at(source, v, j + 4));
    }
  }
};

template <int kGroupsAtOnce>
struct PackedI8 : Bytes<kGroupsAtOnce> {
  static constexpr bool kMinimum = false;  // but an offset of 128
  static constexpr bool kNibbles = false;
  static BlockSource block(const ComputeArgs& a, int64_t group, int64_t b) {
    const std::byte* at = a.weights + group * a.group_bytes;
    const std::byte* quants = at + (a.blocks * 32 + 63) / 64 * 64 + b * kI8BlockBytes;
    prefetch_ahead<kGroupsAtOnce>(a, quants, b, kI8BlockBytes);
    return {quants, a.group_bytes, at + 32 * b, a.group_bytes};
  }
};

// Nibbles of kGroupsAtOnce groups that `unpack_groups` has put into the scratch, [group][block % kScratchBlocks][512].
template <int kGroupsAtOnce>
struct UnpackedI4 : Bytes<kGroupsAtOnce> {
  static constexpr bool kMinimum = true;
  static constexpr bool kNibbles = true;
  static BlockSource block(const ComputeArgs& a, int64_t group, int64_t b) {
    const int64_t slot = b % kScratchBlocks;
    return {a.scratch + slot * kI8BlockBytes, kScratchBlocks * kI8BlockBytes, a.weights + group * a.group_bytes + b * kI4BlockBytes,
            a.group_bytes};
  }
};

template <int kGroupsAtOnce>
inline void unpack_groups(const ComputeArgs& a, int64_t group, int64_t block_begin, int64_t block_end) {
  for (int64_t b = block_begin; b < block_end; ++b) {
    using W = PackedI4<kGroupsAtOnce>;
    const BlockSource source = W::block(a, group, b);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Lanes::I w[kVectors<W>], w4[kVectors<W>];
      W::load_quads(source, j, w, w4);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors<W>; ++v) {
        std::byte* to = a.scratch + (v / kParts * kScratchBlocks + b % kScratchBlocks) * kI8BlockBytes + 64 * j +
                        v % kParts * Lanes::kCount * 4;
        Lanes::int_store(to, w[v]);
        Lanes::int_store(to + 256, w4[v]);
      }
    }
  }
}
