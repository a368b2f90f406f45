// The device beside the CPU in a binary without CUDA: there is none, and this says so.
#include "device/device.h"

namespace camshaft::device {
namespace {

constexpr const char* kWhyNone = "this binary was built without CUDA (configure with CAMSHAFT_CUDA=ON where nvcc is installed)";

}  // namespace

DeviceList cuda_devices() { return {{}, kWhyNone}; }

Result<std::unique_ptr<CudaDevice>> open_cuda_device(int) { return base::unavailable(kWhyNone); }

}  // namespace camshaft::device
