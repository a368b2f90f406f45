// Any text as tokenizer.json; what follows a NUL is tokenizer_config.json.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checkpoint/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace camshaft;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find('\0');
  const std::string_view config = end == std::string_view::npos ? "" : text.substr(end + 1);
  auto spec = checkpoint::read_tokenizer_json(text.substr(0, end), config);
  if (!spec.ok()) return 0;
  // What text relies on.
  if (spec->kinds.size() != spec->tokens.size()) std::abort();
  for (const int32_t id : spec->end_ids) {
    if (id < 0 || static_cast<size_t>(id) >= spec->tokens.size()) std::abort();
  }
  return 0;
}
