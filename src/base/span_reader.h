// SpanReader: the one cursor that reads bytes of files and messages. It knows what is left and never reads past it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/format.h"
#include "base/status.h"

namespace camshaft::base {

// Little-endian hosts only: that is every target, and the formats we read are little-endian.
static_assert(std::endian::native == std::endian::little);

class SpanReader {
 public:
  // `what` names the file or section in errors; it must outlive the reader.
  SpanReader(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  uint64_t position() const { return position_; }
  uint64_t remaining() const { return bytes_.size() - position_; }

  // `field` names what is being read, for the error.
  template <typename T>
    requires std::is_arithmetic_v<T>
  Result<T> read(std::string_view field) {
    T value;
    if (remaining() < sizeof(T)) return short_read(field, sizeof(T));
    std::memcpy(&value, bytes_.data() + position_, sizeof(T));
    position_ += sizeof(T);
    return value;
  }

  Result<std::span<const std::byte>> read_bytes(uint64_t count, std::string_view field) {
    if (remaining() < count) return short_read(field, count);
    auto out = bytes_.subspan(position_, count);
    position_ += count;
    return out;
  }

  Status skip_to(uint64_t position, std::string_view field) {
    if (position < position_ || position > bytes_.size()) return short_read(field, position);
    position_ = position;
    return ok_status();
  }

 private:
  Status short_read(std::string_view field, uint64_t wanted) const {
    return data_loss(format("{}: '{}' at byte {} needs {} bytes, {} are left; the file is cut or damaged", what_, field, position_,
                            wanted, remaining()));
  }

  std::span<const std::byte> bytes_;
  std::string_view what_;
  uint64_t position_ = 0;
};

// a + b and a * b, or nothing where 64 bits do not hold them.
inline bool checked_add(uint64_t a, uint64_t b, uint64_t* sum) { return !__builtin_add_overflow(a, b, sum); }
inline bool checked_mul(uint64_t a, uint64_t b, uint64_t* product) { return !__builtin_mul_overflow(a, b, product); }

}  // namespace camshaft::base
