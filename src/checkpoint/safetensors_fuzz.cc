// Any bytes as a safetensors file: header and a row of each tensor.
#include <cstdint>
#include <vector>

#include "checkpoint/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace camshaft;
  auto tensors = checkpoint::read_safetensors_header(std::as_bytes(std::span(data, size)), "fuzz");
  if (!tensors.ok()) return 0;
  for (const checkpoint::NamedTensor& tensor : *tensors) {
    if (tensor.view.bytes.empty()) continue;
    std::vector<float> row(static_cast<size_t>(tensor.view.columns()));
    tensor.view.unpack_row(tensor.view.rows() - 1, row.data());
  }
  return 0;
}
