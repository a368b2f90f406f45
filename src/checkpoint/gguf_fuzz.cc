// Any bytes as a GGUF file: header, vocabulary, prompt, and a row of each tensor.
#include <cstdint>
#include <vector>

#include "checkpoint/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace camshaft;
  auto opened = checkpoint::read_gguf(std::as_bytes(std::span(data, size)), "fuzz");
  if (!opened.ok()) return 0;
  const checkpoint::Checkpoint& model = **opened;
  for (const checkpoint::NamedTensor& tensor : model.tensors()) {
    std::vector<float> row(static_cast<size_t>(tensor.view.columns()));
    tensor.view.unpack_row(tensor.view.rows() - 1, row.data());
  }
  (void)model.tokenizer();
  (void)model.prompt();
  (void)model.config().dump();
  return 0;
}
