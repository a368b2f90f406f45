// CUDA devices over the CUDA runtime: memory, one stream, copies. Every call is checked and named in the error.
#include <cuda_runtime_api.h>

#include "base/format.h"
#include "device/device.h"

namespace camshaft::device {
namespace {

Status checked(cudaError_t error, const char* call, int index) {
  if (error == cudaSuccess) return {};
  std::string message = format("CUDA device {}: {}: {} ({})", index, call, cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) return base::resource_exhausted(std::move(message));
  return base::unavailable(std::move(message));
}

// The runtime finds the owning device by the address. An error here was already reported by the call that caused it.
void free_device(std::byte* d_data, size_t) { static_cast<void>(cudaFree(d_data)); }

class RuntimeDevice : public CudaDevice {
 public:
  explicit RuntimeDevice(int index) : index_(index) {}
  ~RuntimeDevice() override {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }

  Status open() {
    CS_RETURN_IF_ERROR(bind());
    return checked(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", index_);
  }

  Result<Buffer> allocate(size_t bytes) override {
    if (bytes == 0) return Buffer();
    CS_RETURN_IF_ERROR(bind());
    void* d_data = nullptr;
    Status status = checked(cudaMalloc(&d_data, bytes), "cudaMalloc", index_);
    if (!status.ok()) return std::move(status).with_context(format("{} bytes of device memory", bytes));
    return Buffer(static_cast<std::byte*>(d_data), bytes, free_device);
  }

  void* stream() override { return stream_; }

  Status copy_to_device(std::byte* d_to, std::span<const std::byte> from) override {
    CS_RETURN_IF_ERROR(bind());
    return checked(cudaMemcpyAsync(d_to, from.data(), from.size(), cudaMemcpyHostToDevice, stream_), "cudaMemcpyAsync", index_);
  }

  Status copy_to_host(std::span<std::byte> to, const std::byte* d_from) override {
    CS_RETURN_IF_ERROR(bind());
    CS_RETURN_IF_ERROR(
        checked(cudaMemcpyAsync(to.data(), d_from, to.size(), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync", index_));
    return synchronize();
  }

  Status synchronize() override {
    CS_RETURN_IF_ERROR(bind());
    return checked(cudaStreamSynchronize(stream_), "cudaStreamSynchronize", index_);
  }

 private:
  // The runtime's current device belongs to the calling thread.
  Status bind() { return checked(cudaSetDevice(index_), "cudaSetDevice", index_); }

  int index_;
  cudaStream_t stream_ = nullptr;
};

Result<DeviceInfo> describe(int index) {
  cudaDeviceProp properties;
  CS_RETURN_IF_ERROR(checked(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties", index));
  return DeviceInfo{properties.name, properties.major, properties.minor, properties.totalGlobalMem};
}

}  // namespace

DeviceList cuda_devices() {
  DeviceList list;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    list.why_none = error == cudaSuccess ? "the CUDA driver knows no device" : cudaGetErrorString(error);
    return list;
  }
  for (int index = 0; index < count; ++index) {
    Result<DeviceInfo> info = describe(index);
    if (!info.ok()) return {{}, info.status().message()};
    list.devices.push_back(std::move(*info));
  }
  return list;
}

Result<std::unique_ptr<CudaDevice>> open_cuda_device(int index) {
  const DeviceList list = cuda_devices();
  if (list.devices.empty()) return base::unavailable(format("no CUDA device: {}", list.why_none));
  const int count = static_cast<int>(list.devices.size());
  if (index < 0 || index >= count) {
    return base::not_found(format("CUDA device {} of {}: choose 0 to {}", index, count, count - 1));
  }
  auto device = std::make_unique<RuntimeDevice>(index);
  CS_RETURN_IF_ERROR(device->open());
  return std::unique_ptr<CudaDevice>(std::move(device));
}

}  // namespace camshaft::device
