#include "device/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace camshaft::device {
namespace {

TEST(HostMemory, IsAlignedZeroedAndWritable) {
  Result<Buffer> buffer = allocate_host((size_t{2} << 20) + 5);
  ASSERT_TRUE(buffer.ok()) << buffer.status().to_string();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % (size_t{2} << 20), 0u);
  EXPECT_EQ(buffer->size(), (size_t{2} << 20) + 5);
  EXPECT_EQ(buffer->data()[buffer->size() - 1], std::byte{0});
  buffer->data()[buffer->size() - 1] = std::byte{7};
}

TEST(HostMemory, EmptyIsAllowedAndTooMuchIsRefused) {
  EXPECT_TRUE(allocate_host(0).ok());
  EXPECT_EQ(allocate_host(SIZE_MAX - 1).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(allocate_host(SIZE_MAX / 4).status().code(), Code::kResourceExhausted);
}

TEST(HostMemory, ReleasedPagesReadAsZeroAndNeighboursStay) {
  Result<Buffer> buffer = allocate_host(size_t{1} << 20);
  ASSERT_TRUE(buffer.ok());
  std::fill_n(buffer->data(), buffer->size(), std::byte{9});
  release_pages({buffer->data() + 100, 3 * 4096});
  EXPECT_EQ(buffer->data()[4095], std::byte{9});
  EXPECT_EQ(buffer->data()[4096], std::byte{0});
  EXPECT_EQ(buffer->data()[3 * 4096 - 1], std::byte{0});
  EXPECT_EQ(buffer->data()[3 * 4096], std::byte{9});
  release_pages({buffer->data() + 1, 10});
  EXPECT_EQ(buffer->data()[1], std::byte{9});
}

TEST(HostMemory, MovesOwnership) {
  Buffer first = *allocate_host(4096);
  std::byte* data = first.data();
  Buffer second = std::move(first);
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.data(), nullptr);
  first = std::move(second);
  EXPECT_EQ(first.data(), data);
}

TEST(CudaDevice, SaysWhyThereIsNone) {
  const DeviceList list = cuda_devices();
  if (!list.devices.empty()) GTEST_SKIP() << "this machine has a CUDA device";
  EXPECT_FALSE(list.why_none.empty());
  EXPECT_EQ(open_cuda_device(0).status().code(), Code::kUnavailable);
}

TEST(CudaDevice, CopiesThereAndBack) {
  if (cuda_devices().devices.empty()) GTEST_SKIP() << "no CUDA device: " << cuda_devices().why_none;
  Result<std::unique_ptr<CudaDevice>> device = open_cuda_device(0);
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  std::vector<int32_t> values(1000), back(1000);
  std::iota(values.begin(), values.end(), 3);
  Result<Buffer> memory = (*device)->allocate(4000);
  ASSERT_TRUE(memory.ok()) << memory.status().to_string();
  EXPECT_TRUE((*device)->copy_to_device(memory->data(), std::as_bytes(std::span(values))).ok());
  EXPECT_TRUE((*device)->copy_to_host(std::as_writable_bytes(std::span(back)), memory->data()).ok());
  EXPECT_EQ(values, back);
  EXPECT_EQ((*device)->allocate(size_t{1} << 50).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(open_cuda_device(99).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace camshaft::device
