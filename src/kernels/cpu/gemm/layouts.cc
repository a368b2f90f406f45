// Packing of weight rows, 16 side by side, so that one vector holds the same columns of 16 outputs. One layout a format serves all
// instruction sets; groups are whole cache lines.
//   i4b32m_r16  a block of 32 columns: d[16] f16, m[16] f16, then 4 x [16 rows][4 bytes]: the rows' 16 bytes of nibbles cut in four
//   i8b32_r16   d[blocks][16] f16, padded to a line; a block: 8 x [16 rows][4 columns] of q + 128
//   f32_r16     [columns][16] f32         f16_r16  [columns][16] f16         bf16_r16  [columns / 2][16][2] bf16
// An odd number of columns has a column of zeros behind it.
#include "kernels/cpu/gemm/layouts.h"

#include <cstring>

#include "kernels/cpu/gemm/gemm.h"
#include "kernels/cpu/gemm/micro.inl.h"
#include "tensor/dtype.h"

namespace camshaft::kernels::gemm {
namespace {

constexpr int64_t kI4FileBlock = 20;  // f16 d, f16 m, 16 bytes
constexpr int64_t kI8FileBlock = 34;  // f16 d, 32 bytes

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}
float load_f16(const std::byte* from) { return tensor::f16_to_f32(load<uint16_t>(from)); }
int64_t scale_bytes(int64_t blocks) { return (blocks * 32 + 63) / 64 * 64; }
int64_t even(int64_t k) { return (k + 1) / 2 * 2; }

int64_t i4_group_bytes(int64_t k) { return k / kBlock * kI4BlockBytes; }

void pack_i4_row(const std::byte* row, int64_t lane, int64_t blocks, std::byte* out) {
  for (int64_t b = 0; b < blocks; ++b, row += kI4FileBlock, out += kI4BlockBytes) {
    std::memcpy(out + 2 * lane, row, 2);
    std::memcpy(out + 32 + 2 * lane, row + 2, 2);
    for (int64_t j = 0; j < 4; ++j) std::memcpy(out + 64 + 64 * j + 4 * lane, row + 4 + 4 * j, 4);
  }
}

void pack_i4(const std::byte* const* rows, int64_t k, std::byte* out) {
  std::memset(out, 0, static_cast<size_t>(i4_group_bytes(k)));
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    if (rows[lane] != nullptr) pack_i4_row(rows[lane], lane, k / kBlock, out);
  }
}

void unpack_i4(const std::byte* group, int64_t lane, int64_t k, float* out) {
  for (int64_t b = 0; b < k / kBlock; ++b, group += kI4BlockBytes, out += kBlock) {
    const float d = load_f16(group + 2 * lane), m = load_f16(group + 32 + 2 * lane);
    for (int64_t i = 0; i < 16; ++i) {
      const int byte = std::to_integer<int>(group[64 + 64 * (i / 4) + 4 * lane + i % 4]);
      out[i] = d * static_cast<float>(byte & 15) + m;
      out[i + 16] = d * static_cast<float>(byte >> 4) + m;
    }
  }
}

int64_t i8_group_bytes(int64_t k) { return scale_bytes(k / kBlock) + k / kBlock * kI8BlockBytes; }

void pack_i8_row(const std::byte* row, int64_t lane, int64_t blocks, std::byte* out) {
  std::byte* quants = out + scale_bytes(blocks);
  for (int64_t b = 0; b < blocks; ++b, row += kI8FileBlock, quants += kI8BlockBytes) {
    std::memcpy(out + 32 * b + 2 * lane, row, 2);
    for (int64_t i = 0; i < kBlock; ++i) quants[64 * (i / 4) + 4 * lane + i % 4] = row[2 + i] ^ std::byte{0x80};
  }
}

void pack_i8(const std::byte* const* rows, int64_t k, std::byte* out) {
  const int64_t scales = scale_bytes(k / kBlock);
  std::memset(out, 0, static_cast<size_t>(scales));
  std::memset(out + scales, 0x80, static_cast<size_t>(i8_group_bytes(k) - scales));
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    if (rows[lane] != nullptr) pack_i8_row(rows[lane], lane, k / kBlock, out);
  }
}

void unpack_i8(const std::byte* group, int64_t lane, int64_t k, float* out) {
  const std::byte* quants = group + scale_bytes(k / kBlock);
  for (int64_t b = 0; b < k / kBlock; ++b, quants += kI8BlockBytes, out += kBlock) {
    const float d = load_f16(group + 32 * b + 2 * lane);
    for (int64_t i = 0; i < kBlock; ++i) {
      out[i] = d * static_cast<float>(std::to_integer<int>(quants[64 * (i / 4) + 4 * lane + i % 4]) - 128);
    }
  }
}

// Where element (column, lane) of a plain layout stands, in elements.
int64_t by_column(int64_t column, int64_t lane) { return column * kLanes + lane; }
int64_t by_pair(int64_t column, int64_t lane) { return column / 2 * 2 * kLanes + 2 * lane + column % 2; }

template <int64_t kBytes>
int64_t plain_group_bytes(int64_t k) {
  return even(k) * kLanes * kBytes;
}

template <int64_t kBytes, int64_t (*kPlace)(int64_t, int64_t)>
void pack_plain(const std::byte* const* rows, int64_t k, std::byte* out) {
  std::memset(out, 0, static_cast<size_t>(plain_group_bytes<kBytes>(k)));
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    if (rows[lane] == nullptr) continue;
    for (int64_t c = 0; c < k; ++c) std::memcpy(out + kBytes * kPlace(c, lane), rows[lane] + kBytes * c, kBytes);
  }
}

template <int64_t kBytes, int64_t (*kPlace)(int64_t, int64_t), float (*kValue)(const std::byte*)>
void unpack_plain(const std::byte* group, int64_t lane, int64_t k, float* out) {
  for (int64_t c = 0; c < k; ++c) out[c] = kValue(group + kBytes * kPlace(c, lane));
}

float load_bf16(const std::byte* from) { return tensor::bf16_to_f32(load<uint16_t>(from)); }

}  // namespace

using tensor::Format;
const WeightLayout kI4Rows16 = {"i4b32m_r16", Format::kI4B32M, kLanes, i4_group_bytes, pack_i4, unpack_i4};
const WeightLayout kI8Rows16 = {"i8b32_r16", Format::kI8B32, kLanes, i8_group_bytes, pack_i8, unpack_i8};
const WeightLayout kF32Rows16 = {
    "f32_r16", Format::kF32, kLanes, plain_group_bytes<4>, pack_plain<4, by_column>, unpack_plain<4, by_column, load<float>>};
const WeightLayout kF16Rows16 = {
    "f16_r16", Format::kF16, kLanes, plain_group_bytes<2>, pack_plain<2, by_column>, unpack_plain<2, by_column, load_f16>};
const WeightLayout kBf16Rows16 = {"bf16_r16",           Format::kBF16,          kLanes,
                                  plain_group_bytes<2>, pack_plain<2, by_pair>, unpack_plain<2, by_pair, load_bf16>};

}  // namespace camshaft::kernels::gemm

namespace camshaft::kernels {

std::span<const WeightLayout> gemm_layouts() {
  static const WeightLayout kLayouts[] = {gemm::kI4Rows16, gemm::kI8Rows16, gemm::kF32Rows16, gemm::kF16Rows16, gemm::kBf16Rows16};
  return kLayouts;
}

}  // namespace camshaft::kernels
