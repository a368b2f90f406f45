// Any bytes: the decoder agrees with a second one written from the values instead of the byte ranges, and what the decoder takes,
// append_utf8 gives back.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/utf8.h"

namespace base = camshaft::base;

namespace {

// Length of the code point at the start of `text` by arithmetic alone: bits of the lead, continuation marks, then value checks.
size_t length_by_value(std::string_view text) {
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF8 ? 0 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
  if (length == 0 || text.size() < length) return 0;
  uint32_t value = lead & (0x7Fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if (byte >> 6 != 2) return 0;
    value = value << 6 | (byte & 63u);
  }
  const bool surrogate = value >> 11 == 0x1B;
  return value < kSmallest[length] || value > 0x10FFFF || surrogate ? 0 : length;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string rebuilt;
  size_t position = 0;
  while (position < size) {
    const base::CodePoint point = base::decode_utf8(text, position);
    CS_CHECK(point.length == length_by_value(text.substr(position)), "the decoders differ");
    if (point.length == 0) break;
    base::append_utf8(rebuilt, point.value);
    position += point.length;
  }
  CS_CHECK(base::utf8_valid_prefix(text) == position && rebuilt == text.substr(0, position), "the valid prefix differs");
  CS_CHECK(base::is_utf8(base::replace_invalid_utf8(text)), "replacing leaves bad text");
  if (position < size) CS_CHECK(position + base::utf8_bad_length(text, position) <= size, "a bad part longer than the text");
  return 0;
}
