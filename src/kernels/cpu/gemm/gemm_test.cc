// Every GEMM kernel this machine can run against sums in double; row-invariance; rows and columns beside the output untouched.
#include "kernels/cpu/gemm/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/thread_pool.h"
#include "tensor/dtype.h"

namespace camshaft::kernels {
namespace {

using ops::ActivationType;
using ops::GemmDesc;
using tensor::Format;

constexpr float kUntouched = 12345.0f;

std::vector<float> random_values(int64_t count, uint32_t seed, float scale = 1.0f) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, scale);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(random);
  return values;
}

// A weight matrix in its file format, packed for a kernel, and as the f32 numbers it stands for.
struct Weights {
  std::vector<std::byte> rows;
  std::vector<std::byte> packed;
  std::vector<float> values;  // [n, k]
};

void pack_groups(const WeightLayout& layout, const GemmDesc& desc, Weights* w) {
  const int64_t row_bytes = tensor::format_bytes(desc.weight, desc.k), groups = (desc.n + layout.row_group - 1) / layout.row_group;
  w->packed.resize(static_cast<size_t>(groups * layout.group_bytes(desc.k)));
  for (int64_t g = 0; g < groups; ++g) {
    std::vector<const std::byte*> rows(static_cast<size_t>(layout.row_group));
    for (int64_t i = 0; i < layout.row_group; ++i) {
      const int64_t row = g * layout.row_group + i;
      rows[static_cast<size_t>(i)] = row < desc.n ? w->rows.data() + row * row_bytes : nullptr;
    }
    layout.pack_group(rows.data(), desc.k, w->packed.data() + g * layout.group_bytes(desc.k));
  }
}

Weights pack_rows(const WeightLayout& layout, const GemmDesc& desc, std::vector<std::byte> rows) {
  Weights w;
  w.rows = std::move(rows);
  w.values.resize(static_cast<size_t>(desc.n * desc.k));
  tensor::format_info(desc.weight).unpack(w.rows.data(), w.values.data(), desc.n * desc.k);
  pack_groups(layout, desc, &w);
  return w;
}

Weights make_weights(const WeightLayout& layout, const GemmDesc& desc) {
  const std::vector<float> values = random_values(desc.n * desc.k, 7, 0.3f);
  std::vector<std::byte> rows(static_cast<size_t>(tensor::format_bytes(desc.weight, desc.n * desc.k)));
  tensor::format_info(desc.weight).pack(values.data(), rows.data(), desc.n * desc.k);
  return pack_rows(layout, desc, std::move(rows));
}

int64_t limit_of(ActivationType type) { return type == ActivationType::kI8B32 ? 127 : 32385; }

// What the op's definition makes of x, as numbers.
std::vector<double> activations(const GemmDesc& desc, const std::vector<float>& x) {
  std::vector<double> out(x.begin(), x.end());
  if (desc.activation == ActivationType::kF32) return out;
  if (desc.activation == ActivationType::kBF16) {
    for (size_t i = 0; i < x.size(); ++i) out[i] = tensor::bf16_to_f32(tensor::f32_to_bf16(x[i]));
    return out;
  }
  for (size_t begin = 0; begin < x.size(); begin += 32) {
    float amax = 0;
    for (size_t i = begin; i < begin + 32; ++i) amax = std::max(amax, std::fabs(x[i]));
    const float d = amax / static_cast<float>(limit_of(desc.activation));
    for (size_t i = begin; i < begin + 32; ++i) out[i] = d == 0 ? 0.0 : double{d} * std::nearbyint(x[i] / d);
  }
  return out;
}

struct Expected {
  double value = 0;
  double magnitude = 0;  // sum of |products|
};

Expected expected_at(const GemmDesc& desc, const std::vector<double>& x, const Weights& w, int64_t row, int64_t output) {
  Expected e;
  for (int64_t c = 0; c < desc.k; ++c) {
    const double product = x[static_cast<size_t>(row * desc.k + c)] * w.values[static_cast<size_t>(output * desc.k + c)];
    e.value += product;
    e.magnitude += std::fabs(product);
  }
  return e;
}

// Runs a kernel; y has a row and some columns more than it may write.
std::vector<float> run(const KernelInfo& kernel, const GemmDesc& desc, const Weights& w, const float* x, int64_t rows,
                       const std::vector<float>& bias, int workers) {
  const ops::OpDesc op = desc;
  const Caps caps{.isa = detect_isa()};
  const RunContext context{.desc = &op, .caps = &caps, .layout = kernel.weight_layout(op)};
  std::vector<std::byte> workspace(static_cast<size_t>(kernel.workspace_bytes(op, caps, rows, workers)), std::byte{0xEE});
  const int64_t y_stride = desc.n + 3;
  std::vector<float> y(static_cast<size_t>((rows + 1) * y_stride), kUntouched);
  const TensorArg in[] = {
      {const_cast<float*>(x), desc.k}, {const_cast<std::byte*>(w.packed.data()), 0}, {const_cast<float*>(bias.data()), 0}};
  const TensorArg out[] = {{y.data(), y_stride}};
  const KernelCall call{.rows = rows, .in = in, .out = out, .workspace = workspace.data()};
  base::ThreadPool pool(workers, base::Pinning::kFloat);
  auto work = [&](int worker) { kernel.run({worker, workers, &pool}, context, call); };
  pool.run(work);
  return y;
}

// Kernels this machine runs, by name.
std::vector<const KernelInfo*> runnable() {
  std::vector<const KernelInfo*> kernels;
  for (const KernelInfo& kernel : gemm_kernels()) {
    const std::string_view isa = kernel.name.substr(kernel.name.rfind('_') + 1);
    if (parse_isa(isa).value() <= detect_isa()) kernels.push_back(&kernel);
  }
  return kernels;
}

// The description a kernel takes: its name says formats.
GemmDesc desc_for(const KernelInfo& kernel, int64_t n, int64_t k, bool bias) {
  for (Format weight : {Format::kF32, Format::kF16, Format::kBF16, Format::kI8B32, Format::kI4B32M}) {
    for (ActivationType activation :
         {ActivationType::kF32, ActivationType::kBF16, ActivationType::kI8B32, ActivationType::kI16B32}) {
      const GemmDesc desc{n, k, weight, activation, bias};
      if (kernel.supports(desc, Caps{.isa = Isa::kAvx512Bf16}).yes) return desc;
    }
  }
  ADD_FAILURE() << kernel.name << " supports nothing";
  return {};
}

class GemmTest : public testing::TestWithParam<const KernelInfo*> {};

INSTANTIATE_TEST_SUITE_P(Kernels, GemmTest, testing::ValuesIn(runnable()),
                         [](const auto& test) { return std::string(test.param->name); });

void expect_near(const KernelInfo& kernel, const GemmDesc& desc, int64_t rows, int workers) {
  SCOPED_TRACE(testing::Message() << kernel.name << " n=" << desc.n << " k=" << desc.k << " rows=" << rows
                                  << " workers=" << workers);
  const Weights w = make_weights(*kernel.weight_layout(desc), desc);
  const std::vector<float> x = random_values(rows * desc.k, 11), bias = random_values(desc.n, 13);
  const std::vector<double> a = activations(desc, x);
  const std::vector<float> y = run(kernel, desc, w, x.data(), rows, bias, workers);
  for (int64_t r = 0; r <= rows; ++r) {
    for (int64_t o = 0; o < desc.n + 3; ++o) {
      const float got = y[static_cast<size_t>(r * (desc.n + 3) + o)];
      if (r == rows || o >= desc.n) {
        ASSERT_EQ(got, kUntouched) << "row " << r << " output " << o;
        continue;
      }
      const Expected e = expected_at(desc, a, w, r, o);
      const double offset = desc.bias ? bias[static_cast<size_t>(o)] : 0.0;
      ASSERT_NEAR(got, e.value + offset, 4e-7 * (e.magnitude + std::fabs(offset)) + 1e-9) << "row " << r << " output " << o;
    }
  }
}

TEST_P(GemmTest, NearTheSumInDouble) {
  const KernelInfo& kernel = *GetParam();
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{{1, 32}, {15, 64}, {16, 96}, {70, 576}, {131, 160}}) {
    for (int64_t rows : {1, 2, 3, 5, 12, 13, 31}) {
      expect_near(kernel, desc_for(kernel, n, k, rows % 2 == 1), rows, 1 + static_cast<int>(rows % 3));
    }
  }
}

TEST_P(GemmTest, AnyNumberOfColumnsForPlainWeights) {
  const KernelInfo& kernel = *GetParam();
  GemmDesc desc = desc_for(kernel, 20, 32, true);
  const Caps caps{.isa = Isa::kAvx512Bf16};
  for (int64_t k : {1, 2, 31, 33, 47, 100}) {
    desc.k = k;
    if (tensor::format_info(desc.weight).block_elements == 1) {
      for (int64_t rows : {1, 4}) expect_near(kernel, desc, rows, 2);
    } else {
      EXPECT_NE(kernel.supports(desc, caps).reason.find("multiples of 32"), std::string::npos);
    }
  }
}

void expect_row_invariance(const KernelInfo& kernel, const GemmDesc& desc) {
  constexpr int64_t kMaxRows = 41;
  const Weights w = make_weights(*kernel.weight_layout(desc), desc);
  const std::vector<float> x = random_values(kMaxRows * desc.k, 3), bias = random_values(desc.n, 5);
  const std::vector<float> all = run(kernel, desc, w, x.data(), kMaxRows, bias, 2);
  const auto row_bytes = static_cast<size_t>(desc.n) * sizeof(float);
  for (int64_t rows = 1; rows <= 26; ++rows) {
    const int64_t first = (rows * 7) % (kMaxRows - rows + 1);
    const std::vector<float> some = run(kernel, desc, w, x.data() + first * desc.k, rows, bias, 1 + static_cast<int>(rows % 2));
    for (int64_t r = 0; r < rows; ++r) {
      ASSERT_EQ(
          memcmp(&some[static_cast<size_t>(r * (desc.n + 3))], &all[static_cast<size_t>((first + r) * (desc.n + 3))], row_bytes), 0)
          << "row " << r << " of " << rows;
    }
  }
}

TEST_P(GemmTest, RowsHaveTheSameBitsInAnyCompany) { expect_row_invariance(*GetParam(), desc_for(*GetParam(), 100, 192, true)); }

// Many rows take long k in parts, few rows in one go.
TEST_P(GemmTest, PartsOfKDoNotChangeBits) { expect_row_invariance(*GetParam(), desc_for(*GetParam(), 40, 1600, true)); }

TEST_P(GemmTest, ManyOutputsAreSharedOut) {
  const KernelInfo& kernel = *GetParam();
  for (int64_t rows : {1, 2}) expect_near(kernel, desc_for(kernel, 16 * 1024 + 5, 32, false), rows, 2);
}

TEST_P(GemmTest, NonFiniteInputsAreNotHidden) {
  const KernelInfo& kernel = *GetParam();
  const GemmDesc desc = desc_for(kernel, 16, 64, false);
  const Weights w = make_weights(*kernel.weight_layout(desc), desc);
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = random_values(desc.k, 3);
    x[37] = bad;
    const std::vector<float> y = run(kernel, desc, w, x.data(), 1, {}, 1);
    for (int64_t o = 0; o < desc.n; ++o) EXPECT_FALSE(std::isfinite(y[static_cast<size_t>(o)])) << o;
  }
}

TEST_P(GemmTest, TinyHugeAndZeroBlocks) {
  const KernelInfo& kernel = *GetParam();
  const GemmDesc desc = desc_for(kernel, 16, 96, false);
  const Weights w = make_weights(*kernel.weight_layout(desc), desc);
  for (float scale : {1e-43f, 1e-38f, 1e-30f, 1e30f}) {
    std::vector<float> x = random_values(desc.k, 3, scale);
    std::fill(x.begin() + 32, x.begin() + 64, 0.0f);
    const std::vector<double> a = activations(desc, x);
    const std::vector<float> y = run(kernel, desc, w, x.data(), 1, {}, 1);
    for (int64_t o = 0; o < desc.n; ++o) {
      const Expected e = expected_at(desc, a, w, 0, o);
      // Near the smallest numbers scales and bf16 products lose bits, or flush.
      const double slack = scale < 1e-37f ? 20.0 * scale : 1e-6 * e.magnitude;
      ASSERT_NEAR(y[static_cast<size_t>(o)], e.value, slack) << "scale " << scale << " output " << o;
    }
  }
}

// Integers are exact at the corners: every weight at an end of its range, activations at theirs.
TEST_P(GemmTest, ExtremeIntegersDoNotSaturate) {
  const KernelInfo& kernel = *GetParam();
  const GemmDesc desc = desc_for(kernel, 16, 64, false);
  const int64_t block_bytes = tensor::format_info(desc.weight).block_bytes;
  if (tensor::format_info(desc.weight).block_elements == 1) return;
  for (int weight_byte : {0x00, 0xFF, 0x80, 0x7F}) {
    std::vector<std::byte> rows(static_cast<size_t>(tensor::format_bytes(desc.weight, desc.n * desc.k)), std::byte(weight_byte));
    const uint16_t one = tensor::f32_to_f16(1.0f);
    for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(block_bytes)) {
      memcpy(&rows[at], &one, 2);
      if (desc.weight == Format::kI4B32M) memcpy(&rows[at + 2], &one, 2);
    }
    const Weights w = pack_rows(*kernel.weight_layout(desc), desc, rows);
    for (int signs : {0, 1, 2}) {
      std::vector<float> x(static_cast<size_t>(desc.k));
      for (size_t i = 0; i < x.size(); ++i) x[i] = (signs == 2 ? i % 2 == 0 : signs == 1) ? -32385.0f : 32385.0f;
      const std::vector<double> a = activations(desc, x);
      const std::vector<float> y = run(kernel, desc, w, x.data(), 1, {}, 1);
      const Expected e = expected_at(desc, a, w, 0, 3);
      ASSERT_NEAR(y[3], e.value, 1e-7 * e.magnitude) << "weights " << weight_byte << " signs " << signs;
    }
  }
}

// q = round(x / d) with the quotient correctly rounded, also next to ties.
TEST_P(GemmTest, QuantisesAsDefined) {
  const KernelInfo& kernel = *GetParam();
  GemmDesc desc = desc_for(kernel, 16, 32, false);
  if (desc.weight != Format::kI8B32) return;
  std::vector<float> identity(16 * 32, 0.0f);  // w[o][c] = 127 where c = 2 * o, so that d = 1
  for (size_t o = 0; o < 16; ++o) identity[o * 32 + 2 * o] = 127.0f;
  std::vector<std::byte> rows(16 * 34);
  tensor::format_info(desc.weight).pack(identity.data(), rows.data(), 16 * 32);
  const Weights w = pack_rows(*kernel.weight_layout(desc), desc, rows);
  std::mt19937 random(1);
  const auto limit = static_cast<float>(limit_of(desc.activation));
  for (int round = 0; round < 300; ++round) {
    const float d = std::ldexp(1.0f + static_cast<float>(random() % 8388608) / 8388608.0f, static_cast<int>(random() % 40) - 20);
    std::vector<float> x(32);
    x[31] = d * limit;
    for (size_t i = 0; i < 31; ++i) {
      const float tie = (static_cast<float>(random() % static_cast<uint32_t>(2 * limit)) - limit + 0.5f) * d;
      x[i] = std::nextafter(tie, static_cast<float>(random() % 3) - 1.0f);
    }
    const std::vector<double> a = activations(desc, x);
    const std::vector<float> y = run(kernel, desc, w, x.data(), 1, {}, 1);
    for (size_t o = 0; o < 16; ++o) ASSERT_NEAR(y[o], 127.0 * a[2 * o], std::fabs(a[2 * o]) * 2e-5 + 1e-9 * d) << x[2 * o] / d;
  }
}

TEST(GemmLayouts, UnpackGivesTheFormatsNumbers) {
  for (const WeightLayout& layout : gemm_layouts()) {
    for (int64_t k : {32, 96, 576}) {
      const GemmDesc desc{.n = 21, .k = k, .weight = layout.format};
      const Weights w = make_weights(layout, desc);
      EXPECT_EQ(layout.group_bytes(k) % 64, 0) << layout.name;
      std::vector<float> row(static_cast<size_t>(k));
      for (int64_t r = 0; r < 32; ++r) {
        layout.unpack_row(w.packed.data() + r / 16 * layout.group_bytes(k), r % 16, k, row.data());
        for (int64_t c = 0; c < k; ++c) {
          ASSERT_EQ(row[static_cast<size_t>(c)], r < desc.n ? w.values[static_cast<size_t>(r * k + c)] : 0.0f)
              << layout.name << " row " << r;
        }
      }
    }
  }
}

TEST(GemmKernels, RefusalsSayWhy) {
  const KernelInfo& first = gemm_kernels().front();
  GemmDesc desc = desc_for(first, 16, 64, false);
  EXPECT_EQ(first.supports(desc, Caps{.isa = Isa::kAvx2}).reason, "needs avx512vnni, the target is avx2");
  EXPECT_EQ(first.supports(ops::AddDesc{}, Caps{.isa = Isa::kAvx512Vnni}).reason, "the op is add, not gemm");
  desc.weight = Format::kF32;
  EXPECT_EQ(first.supports(desc, Caps{.isa = Isa::kAvx512Vnni}).reason, "takes i4b32m weights, these are f32");
}

}  // namespace
}  // namespace camshaft::kernels
