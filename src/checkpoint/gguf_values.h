// Reads the value of one GGUF metadata pair; inside the room only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/json.h"
#include "base/span_reader.h"
#include "checkpoint/gguf_header.h"

namespace camshaft::checkpoint {

inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct GgufValueReader {
  base::SpanReader* reader;
  std::string_view what;  // the file
  std::string_view key;

  // Strings must be valid UTF-8; arrays may hold arrays, but no deeper.
  Result<Json> read(uint32_t type) const { return read_value(type, 0); }
  // Walks over an array (without arrays in it) and keeps where it lies.
  Result<GgufArray> skip_array() const;
  Result<std::string_view> read_string(uint64_t limit) const;

 private:
  struct ArrayStart {
    uint32_t element_type;
    uint64_t count;
  };
  Result<ArrayStart> read_array_start() const;
  Result<Json> read_value(uint32_t type, int depth) const;
  Result<Json> read_array(int depth) const;
  Result<Json> read_text() const;
  Result<Json> read_bool() const;
  template <typename T>
  Result<Json> read_number() const;
};

}  // namespace camshaft::checkpoint
