// Host memory: anonymous mappings on 2 MiB borders with huge pages advised, and giving pages back.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "device/device.h"

namespace camshaft::device {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t value, size_t step) { return (value + step - 1) / step * step; }

void unmap(std::byte* data, size_t size) { munmap(data, round_up(size, kHugePage)); }

// Maps `bytes` (whole huge pages) on a huge page border: one more is mapped and the ends are cut off.
std::byte* map_aligned(size_t bytes) {
  void* mapped = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* start = static_cast<std::byte*>(mapped);
  const size_t head = round_up(reinterpret_cast<uintptr_t>(start), kHugePage) - reinterpret_cast<uintptr_t>(start);
  if (head > 0) munmap(start, head);
  munmap(start + head + bytes, kHugePage - head);
  return start + head;
}

}  // namespace

Buffer::Buffer(Buffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), release_(other.release_) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(release_, other.release_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ != nullptr && release_ != nullptr) release_(data_, size_);
}

Result<Buffer> allocate_host(size_t bytes) {
  if (bytes == 0) return Buffer();
  if (bytes > SIZE_MAX / 2)
    return base::resource_exhausted(format("{} bytes of host memory: more than an address space holds", bytes));
  std::byte* data = map_aligned(round_up(bytes, kHugePage));
  if (data == nullptr) {
    return base::resource_exhausted(format("cannot map {} bytes of host memory: {}", bytes, strerror(errno)));
  }
  madvise(data, round_up(bytes, kHugePage), MADV_HUGEPAGE);  // advice: a kernel without huge pages says no and nothing is lost
  return Buffer(data, bytes, unmap);
}

void release_pages(std::span<std::byte> range) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = round_up(reinterpret_cast<uintptr_t>(range.data()), page);
  const uintptr_t end = (reinterpret_cast<uintptr_t>(range.data()) + range.size()) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace camshaft::device
