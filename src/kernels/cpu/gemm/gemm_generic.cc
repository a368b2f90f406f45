// GEMM in portable C++, for machines without AVX2: the same layouts and sums, products and sums rounded apart (no fma). Also the
// proof that the layouts mean what they say.
#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/cpu/gemm/micro.inl.h"
#include "tensor/dtype.h"

namespace camshaft::kernels::gemm::generic {
namespace {
#include "kernels/cpu/gemm/tiles.inl.h"
//
#include "kernels/cpu/gemm/float_rows.inl.h"

constexpr int kTile = 4;

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
float load_f16(const std::byte* from) { return tensor::f16_to_f32(load<uint16_t>(from)); }

// q = round(x / d) of a block of 32; returns d, not finite where a value is not.
float quantize(const float* x, float limit, int32_t* q) {
  uint32_t most = 0;
  for (int i = 0; i < kBlock; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(x[i]) & 0x7FFFFFFFu;
    most = magnitude > most ? magnitude : most;
  }
  const float d = std::bit_cast<float>(most) / limit;
  for (int i = 0; i < kBlock; ++i) {
    const float y = d > 0 ? x[i] / d : 0.0f;
    const float clamped = y > limit ? limit : (y >= -limit ? y : -limit);  // NaN goes to -limit
    q[i] = static_cast<int32_t>(std::nearbyint(clamped));
  }
  return d;
}

void put_bytes(std::byte* to, const int32_t* q) {
  for (int i = 0; i < kBlock; ++i) to[i] = static_cast<std::byte>(q[i]);
}
int32_t sum_of(const int32_t* q) {
  int32_t sum = 0;
  for (int i = 0; i < kBlock; ++i) sum += q[i];
  return sum;
}

void put_scales(std::byte* to, int height, float d, int32_t sum) {
  const float d_sum = d * static_cast<float>(sum);
  const int32_t offset = -128 * sum;
  std::memcpy(to, &d, 4);
  std::memcpy(to + 4 * height, &d_sum, 4);
  std::memcpy(to + 8 * height, &offset, 4);
}

void quantize_i8(const float* x, int64_t, std::byte* block, int r, int height) {
  int32_t q[kBlock];
  const float d = quantize(x, 127.0f, q);
  put_bytes(block + 32 * r, q);
  put_scales(block + 32 * height + 4 * r, height, d, sum_of(q));
}

// q = 256 * hi + lo with lo in -128..127.
void quantize_i16(const float* x, int64_t, std::byte* block, int r, int height) {
  int32_t q[kBlock], hi[kBlock], lo[kBlock];
  const float d = quantize(x, 32385.0f, q);
  for (int i = 0; i < kBlock; ++i) {
    lo[i] = static_cast<int8_t>(q[i]);
    hi[i] = (q[i] - lo[i]) / 256;
  }
  put_bytes(block + 32 * r, hi);
  put_bytes(block + 32 * (height + r), lo);
  put_scales(block + 64 * height + 4 * r, height, d, sum_of(q));
}

// One block of a group, unpacked: q of column c and lane l at [c][l].
struct Block {
  uint8_t q[kBlock][kLanes];
  float d[kLanes], m[kLanes];
};

void put_quad(Block& block, int64_t column, int64_t lane, uint32_t quad) {
  for (int i = 0; i < 4; ++i) block.q[column + i][lane] = static_cast<uint8_t>(quad >> (8 * i));
}

struct WeightsI4 {
  static constexpr bool kMinimum = true;
  static void load(const std::byte* group, int64_t, int64_t b, Block* out) {
    const std::byte* block = group + b * kI4BlockBytes;
    for (int64_t l = 0; l < kLanes; ++l) {
      out->d[l] = load_f16(block + 2 * l);
      out->m[l] = load_f16(block + 32 + 2 * l);
      for (int64_t j = 0; j < 4; ++j) {
        const uint32_t quad = generic::load<uint32_t>(block + 64 + 64 * j + 4 * l);
        put_quad(*out, 4 * j, l, quad & 0x0F0F0F0Fu);
        put_quad(*out, 4 * j + 16, l, quad >> 4 & 0x0F0F0F0Fu);
      }
    }
  }
};
struct WeightsI8 {
  static constexpr bool kMinimum = false;
  static void load(const std::byte* group, int64_t blocks, int64_t b, Block* out) {
    const std::byte* block = group + (blocks * 32 + 63) / 64 * 64 + b * kI8BlockBytes;
    for (int64_t l = 0; l < kLanes; ++l) {
      out->d[l] = load_f16(group + 32 * b + 2 * l);
      for (int64_t j = 0; j < 8; ++j) put_quad(*out, 4 * j, l, generic::load<uint32_t>(block + 64 * j + 4 * l));
    }
  }
};

void dot(const Block& w, const std::byte* a, int32_t start, int32_t (&sums)[kLanes]) {
  for (int64_t l = 0; l < kLanes; ++l) sums[l] = start;
  for (int64_t c = 0; c < kBlock; ++c) {
    const int32_t q = static_cast<int8_t>(a[c]);
    for (int64_t l = 0; l < kLanes; ++l) sums[l] += q * w.q[c][l];
  }
}

// One row's block: the dot products as floats, and where its scale stands.
template <bool kMinimum>
struct ActsI8 {
  static constexpr int64_t kUnitBytes = kI8UnitBytes;
  static void dots(const Block& w, const std::byte* block, int r, int height, float (&f)[kLanes]) {
    int32_t sums[kLanes];
    dot(w, block + 32 * r, kMinimum ? 0 : load<int32_t>(block + 40 * height + 4 * r), sums);
    for (int64_t l = 0; l < kLanes; ++l) f[l] = static_cast<float>(sums[l]);
  }
  static const std::byte* scales(const std::byte* block, int r, int height) { return block + 32 * height + 4 * r; }
};
template <bool kMinimum>
struct ActsI16 {
  static constexpr int64_t kUnitBytes = kI16UnitBytes;
  static void dots(const Block& w, const std::byte* block, int r, int height, float (&f)[kLanes]) {
    int32_t hi[kLanes], lo[kLanes];
    dot(w, block + 32 * r, 0, hi);
    dot(w, block + 32 * (height + r), kMinimum ? 0 : load<int32_t>(block + 72 * height + 4 * r), lo);
    for (int64_t l = 0; l < kLanes; ++l) f[l] = static_cast<float>(256 * hi[l] + lo[l]);
  }
  static const std::byte* scales(const std::byte* block, int r, int height) { return block + 64 * height + 4 * r; }
};

void store(const ComputeArgs& a, int64_t row, int64_t group, const float (&acc)[kLanes]) {
  const int64_t first = group * kLanes, outputs = smaller(a.n - first, kLanes);
  float* y = a.y + row * a.y_stride + first;
  for (int64_t l = 0; l < outputs; ++l) y[l] = a.bias == nullptr ? acc[l] : acc[l] + a.bias[first + l];
}

template <class W, class A>
void int_tile(const ComputeArgs& a, int64_t group, int64_t row, int height) {
  float acc[kTile][kLanes] = {};
  const std::byte* acts = a.acts + row * a.blocks * A::kUnitBytes;
  for (int64_t b = 0; b < a.blocks; ++b, acts += height * A::kUnitBytes) {
    Block w;
    W::load(a.weights + group * a.group_bytes, a.blocks, b, &w);
    for (int r = 0; r < height; ++r) {
      float f[kLanes];
      A::dots(w, acts, r, height, f);
      const std::byte* scales = A::scales(acts, r, height);
      const float d = load<float>(scales), d_sum = load<float>(scales + 4 * height);
      for (int64_t l = 0; l < kLanes; ++l) {
        acc[r][l] += f[l] * (w.d[l] * d);
        if (W::kMinimum) acc[r][l] += w.m[l] * d_sum;
      }
    }
  }
  for (int r = 0; r < height; ++r) store(a, row + r, group, acc[r]);
}

struct WeightF32 {
  static float at(const std::byte* group, int64_t column, int64_t lane) {
    return load<float>(group + 4 * (kLanes * column + lane));
  }
};
struct WeightF16 {
  static float at(const std::byte* group, int64_t column, int64_t lane) { return load_f16(group + 2 * (kLanes * column + lane)); }
};
struct WeightBf16 {
  static float at(const std::byte* group, int64_t column, int64_t lane) {
    return tensor::bf16_to_f32(load<uint16_t>(group + 64 * (column / 2) + 4 * lane + 2 * (column % 2)));
  }
};

template <class W>
void float_tile(const ComputeArgs& a, int64_t group, int64_t row, int height) {
  float acc[kTile][kLanes] = {};
  const std::byte* x = a.acts + row * a.blocks * kF32UnitBytes;
  for (int64_t c = 0; c < a.k; ++c, x += 4 * height) {
    float w[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) w[l] = W::at(a.weights + group * a.group_bytes, c, l);
    for (int r = 0; r < height; ++r) {
      const float value = load<float>(x + 4 * r);
      for (int64_t l = 0; l < kLanes; ++l) acc[r][l] += w[l] * value;
    }
  }
  for (int r = 0; r < height; ++r) store(a, row + r, group, acc[r]);
}

template <void (*kRun)(const ComputeArgs&, int64_t, int64_t, int)>
void compute(const ComputeArgs& a) {
  for (int64_t g = a.group_begin; g < a.group_end; ++g) {
    for (int64_t t = a.tile_begin; t < a.tile_end; ++t) kRun(a, g, tile_first_row(a.tiling, t), tile_height(a.tiling, t));
  }
}

void prepare_i8(const PrepareArgs& a) { for_each_unit<kI8UnitBytes>(a, quantize_i8); }
void prepare_i16(const PrepareArgs& a) { for_each_unit<kI16UnitBytes>(a, quantize_i16); }
void prepare_f32(const PrepareArgs& a) { for_each_unit<kF32UnitBytes>(a, put_f32); }
void prepare_rounded(const PrepareArgs& a) { for_each_unit<kF32UnitBytes>(a, put_rounded); }

}  // namespace

const Micro kI4I8 = {kTile, kI8UnitBytes, 0, false, prepare_i8, compute<int_tile<WeightsI4, ActsI8<true>>>};
const Micro kI4I16 = {kTile, kI16UnitBytes, 0, false, prepare_i16, compute<int_tile<WeightsI4, ActsI16<true>>>};
const Micro kI8I8 = {kTile, kI8UnitBytes, 0, false, prepare_i8, compute<int_tile<WeightsI8, ActsI8<false>>>};
const Micro kI8I16 = {kTile, kI16UnitBytes, 0, false, prepare_i16, compute<int_tile<WeightsI8, ActsI16<false>>>};
const Micro kF32F32 = {kTile, kF32UnitBytes, 0, true, prepare_f32, compute<float_tile<WeightF32>>};
const Micro kF16F32 = {kTile, kF32UnitBytes, 0, true, prepare_f32, compute<float_tile<WeightF16>>};
const Micro kBf16F32 = {kTile, kF32UnitBytes, 0, true, prepare_f32, compute<float_tile<WeightBf16>>};
const Micro kBf16Bf16 = {kTile, kF32UnitBytes, 0, false, prepare_rounded, compute<float_tile<WeightBf16>>};

}  // namespace camshaft::kernels::gemm::generic
