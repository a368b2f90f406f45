// Where rows and tiles lie. Included inside the namespace of an instruction set (micro.inl.h comes before it).

inline int64_t tile_first_row(const Tiling& tiling, int64_t tile) {
  return tile * tiling.base + (tile < tiling.extra ? tile : tiling.extra);
}
inline int tile_height(const Tiling& tiling, int64_t tile) { return static_cast<int>(tiling.base + (tile < tiling.extra ? 1 : 0)); }

// A row's place: its tile's first row and height.
struct RowPlace {
  int64_t first_row;
  int height;
};
inline RowPlace place_of(const Tiling& tiling, int64_t row) {
  const int64_t tall_rows = tiling.extra * (tiling.base + 1);
  const int64_t tile = row < tall_rows ? row / (tiling.base + 1) : tiling.extra + (row - tall_rows) / tiling.base;
  return {tile_first_row(tiling, tile), tile_height(tiling, tile)};
}

// Calls unit(source, columns, tile bytes of this block, row in tile, tile height) for each unit of the range.
template <int64_t kUnitBytes, typename Unit>
inline void for_each_unit(const PrepareArgs& a, Unit unit) {
  int64_t row = a.begin / a.blocks, block = a.begin % a.blocks;
  for (int64_t left = a.end - a.begin; left > 0; ++row, block = 0) {
    const RowPlace place = place_of(a.tiling, row);
    const float* x = a.x + row * a.x_stride;
    std::byte* tile = a.acts + place.first_row * a.blocks * kUnitBytes;
    for (; block < a.blocks && left > 0; ++block, --left) {
      const int64_t columns = a.k - block * kBlock < kBlock ? a.k - block * kBlock : kBlock;
      unit(x + block * kBlock, columns, tile + block * place.height * kUnitBytes, static_cast<int>(row - place.first_row),
           place.height);
    }
  }
}

// Runs Tile::run<R>(args...) with R = rows, 1 <= rows <= kMax.
template <class Tile, int kMax, typename... Args>
inline void with_height(int rows, const Args&... args) {
  if constexpr (kMax == 1) {
    Tile::template run<1>(args...);
  } else {
    if (rows == kMax) {
      Tile::template run<kMax>(args...);
    } else {
      with_height<Tile, kMax - 1>(rows, args...);
    }
  }
}

inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
