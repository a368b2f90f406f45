// Device: memory, streams and launches. The only room that calls the CUDA runtime for them. Which devices exist beside the CPU is
// decided at link time (device/cuda or device/none): there is no other #if.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/thread_pool.h"

namespace camshaft::device {

enum class DeviceKind : uint8_t { kCpu, kCuda };

// What a kernel is handed: on the CPU every worker of the pool calls the kernel with its own index, on CUDA one host thread calls
// it.
struct Launch {
  int worker = 0;
  int num_workers = 1;
  base::ThreadPool* pool = nullptr;  // null: a single worker, barrier() does nothing
  void* cuda_stream = nullptr;

  void barrier() const {
    if (pool != nullptr) pool->barrier();
  }
};

// Device memory of one device. Zero-filled on request only. Movable, freed with the object.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::byte* data, size_t size, void (*release)(std::byte*, size_t)) : data_(data), size_(size), release_(release) {}
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  void (*release_)(std::byte*, size_t) = nullptr;
};

// Anonymous memory aligned to 2 MiB with huge pages advised; pages appear when first touched. Errors: resource_exhausted with the
// size.
Result<Buffer> allocate_host(size_t bytes);
// Gives the pages of a range (rounded inwards to whole pages) back; they read as zero afterwards.
void release_pages(std::span<std::byte> range);

// One CUDA device, or none.
struct DeviceInfo {
  std::string name;
  int compute_major = 0;
  int compute_minor = 0;
  uint64_t memory_bytes = 0;
};
// Empty where the binary has no CUDA or the machine no device; the reason stands in `why_none`.
struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string why_none;
};
DeviceList cuda_devices();

// A CUDA device's memory and stream; unavailable() under device/none.
class CudaDevice {
 public:
  virtual ~CudaDevice() = default;
  virtual Result<Buffer> allocate(size_t bytes) = 0;
  virtual void* stream() = 0;
  virtual Status copy_to_device(std::byte* d_to, std::span<const std::byte> from) = 0;
  virtual Status copy_to_host(std::span<std::byte> to, const std::byte* d_from) = 0;
  virtual Status synchronize() = 0;
};
Result<std::unique_ptr<CudaDevice>> open_cuda_device(int index);

}  // namespace camshaft::device
