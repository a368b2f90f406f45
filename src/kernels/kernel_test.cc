#include "kernels/kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "kernels/layouts.h"

namespace camshaft::kernels {
namespace {

using device::DeviceKind;
using testing::HasSubstr;

TEST(Isa, NamesReadBack) {
  for (const Isa isa : {Isa::kGeneric, Isa::kAvx2, Isa::kAvx512, Isa::kAvx512Vnni, Isa::kAvx512Bf16}) {
    EXPECT_EQ(*parse_isa(isa_name(isa)), isa);
  }
  const Status unknown = parse_isa("avx3").status();
  EXPECT_EQ(unknown.code(), Code::kInvalidArgument);
  EXPECT_THAT(unknown.message(), testing::AllOf(HasSubstr("avx3"), HasSubstr("avx512vnni")));
}

TEST(Isa, ClassesIncludeTheOnesBefore) {
  EXPECT_TRUE(isa_features(Isa::kGeneric).empty());
  EXPECT_THAT(isa_features(Isa::kAvx2), testing::ElementsAre("avx2", "fma", "f16c"));
  EXPECT_THAT(isa_features(Isa::kAvx512Bf16), testing::IsSupersetOf(isa_features(Isa::kAvx512Vnni)));
  EXPECT_TRUE(missing_features(detect_isa()).empty());
  EXPECT_TRUE(missing_features(Isa::kGeneric).empty());
}

TEST(KernelList, EndsWithTheReferenceAndNamesAreUnique) {
  std::set<std::string_view> names;
  for (int i = 0; i < ops::kNumOpKinds; ++i) {
    const auto list = kernel_list(DeviceKind::kCpu, static_cast<ops::OpKind>(i));
    ASSERT_FALSE(list.empty()) << ops::op_name(static_cast<ops::OpKind>(i));
    EXPECT_THAT(std::string(list.back().name), testing::EndsWith("_ref"));
    for (const KernelInfo& kernel : list) {
      EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
      EXPECT_EQ(find_kernel(DeviceKind::kCpu, kernel.name), &kernel);
    }
  }
  EXPECT_EQ(find_kernel(DeviceKind::kCpu, "gemm_by_magic"), nullptr);
  EXPECT_TRUE(kernel_list(DeviceKind::kCuda, ops::OpKind::kGemm).empty());
}

TEST(ChooseKernel, SaysWhyOthersWerePassedOver) {
  Caps caps;
  caps.isa = Isa::kAvx2;
  const Choice choice = choose_kernel(ops::RmsNormDesc{576}, caps);
  ASSERT_NE(choice.kernel, nullptr);
  EXPECT_EQ(choice.kernel->name, "rms_norm_f32_avx2");
  ASSERT_EQ(choice.refused.size(), 1u);
  EXPECT_EQ(choice.refused[0].first, "rms_norm_f32_avx512");
  EXPECT_THAT(choice.refused[0].second, testing::AllOf(HasSubstr("needs avx512"), HasSubstr("avx2")));
}

TEST(ChooseKernel, FallsBackToTheReference) {
  Caps caps;
  caps.isa = Isa::kAvx512Bf16;
  caps.kv.key_order = ops::KvLayout::KeyOrder::kTokenMajor;
  const Choice choice = choose_kernel(ops::AttentionDesc{9, {0, 3, 64}, 0.125f}, caps);
  ASSERT_NE(choice.kernel, nullptr);
  EXPECT_EQ(choice.kernel->name, "attention_ref");
  EXPECT_EQ(choice.refused.size(), 3u);
  EXPECT_EQ(choose_kernel(ops::ConcatRowsDesc{}, caps).kernel, nullptr);
}

TEST(Layouts, AreFoundByTheirUniqueNames) {
  std::set<std::string_view> names;
  for (const WeightLayout& layout : all_layouts()) {
    EXPECT_TRUE(names.insert(layout.name).second) << layout.name;
    EXPECT_EQ(find_layout(layout.name), &layout);
    EXPECT_GE(layout.row_group, 1);
  }
  EXPECT_EQ(find_layout("columns"), nullptr);
  EXPECT_EQ(rows_layout(tensor::Format::kI32), nullptr);
}

// Every layout gives back what it was given; rows that are not there are zeros, or at least belong to nobody.
TEST(Layouts, PackAndUnpack) {
  constexpr int64_t kColumns = 256, kRows = 5;
  for (const WeightLayout& layout : all_layouts()) {
    const tensor::FormatInfo& info = tensor::format_info(layout.format);
    if (info.pack == nullptr) continue;
    std::vector<std::vector<std::byte>> rows(kRows, std::vector<std::byte>(tensor::format_bytes(layout.format, kColumns)));
    std::vector<const std::byte*> pointers(layout.row_group, nullptr);
    const int64_t used = std::min(kRows, layout.row_group);
    for (int64_t row = 0; row < used; ++row) {
      std::vector<float> values(kColumns);
      for (int64_t i = 0; i < kColumns; ++i) values[i] = static_cast<float>((i * 7 + row * 13) % 31 - 15) / 8.0f;
      info.pack(values.data(), rows[row].data(), kColumns);
      pointers[row] = rows[row].data();
    }
    std::vector<std::byte> packed(packed_bytes(layout, layout.row_group, kColumns));
    layout.pack_group(pointers.data(), kColumns, packed.data());
    for (int64_t row = 0; row < used; ++row) {
      std::vector<float> expected(kColumns), actual(kColumns);
      info.unpack(rows[row].data(), expected.data(), kColumns);
      layout.unpack_row(packed.data(), row, kColumns, actual.data());
      EXPECT_EQ(actual, expected) << layout.name << " row " << row;
    }
  }
}

}  // namespace
}  // namespace camshaft::kernels
