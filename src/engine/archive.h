// Archives: one function a struct names its fields, the same for writing and reading (engine/sections.cc). Little-endian, counts
// u32. The reader never trusts a count: each element takes at least a byte of what is left, and the first error ends all reading.
#pragma once

#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/span_reader.h"

namespace camshaft::engine {

// fields() and enum_limit() are found through the archive's own namespace, whatever room a struct comes from.
class ArchiveWriter {
 public:
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void operator()(std::string_view, T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof(T));
  }
  void operator()(std::string_view field, std::string& value) {
    write_count(field, value.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), bytes, bytes + value.size());
  }
  template <typename T>
  void operator()(std::string_view field, std::vector<T>& values) {
    write_count(field, values.size());
    for (T& value : values) (*this)(field, value);
  }
  template <typename T>
  void operator()(std::string_view field, std::optional<T>& value) {
    bool present = value.has_value();
    (*this)(field, present);
    if (present) (*this)(field, *value);
  }
  template <typename A, typename B>
  void operator()(std::string_view field, std::pair<A, B>& value) {
    (*this)(field, value.first);
    (*this)(field, value.second);
  }
  template <typename T>
    requires(std::is_class_v<T>)
  void operator()(std::string_view, T& value) {
    fields(*this, value);
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void write_count(std::string_view field, size_t count) {
    auto narrow = static_cast<uint32_t>(count);
    (*this)(field, narrow);
  }
  std::vector<std::byte> bytes_;
};

class ArchiveReader {
 public:
  ArchiveReader(std::span<const std::byte> bytes, std::string_view what) : reader_(bytes, what), what_(what) {}

  template <typename T>
    requires std::is_arithmetic_v<T>
  void operator()(std::string_view field, T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      (*this)(field, byte);
      if (byte > 1) fail(field, byte);
      value = byte == 1;
    } else {
      if (!status_.ok()) return;
      Result<T> read = reader_.read<T>(field);
      if (read.ok()) {
        value = *read;
      } else {
        status_ = std::move(read).status();
      }
    }
  }
  // Enums count from 0; enum_limit(archive, T) is one past the last (declared beside the fields).
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(std::string_view field, T& value) {
    std::underlying_type_t<T> raw = 0;
    (*this)(field, raw);
    if (raw >= enum_limit(*this, T{})) return fail(field, raw);
    value = static_cast<T>(raw);
  }
  void operator()(std::string_view field, std::string& value) {
    const uint32_t count = read_count(field);
    if (!status_.ok()) return;
    auto bytes = *reader_.read_bytes(count, field);
    value.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  template <typename T>
  void operator()(std::string_view field, std::vector<T>& values) {
    const uint32_t count = read_count(field);
    values.clear();
    for (uint32_t i = 0; i < count && status_.ok(); ++i) (*this)(field, values.emplace_back());
  }
  template <typename T>
  void operator()(std::string_view field, std::optional<T>& value) {
    bool present = false;
    (*this)(field, present);
    value.reset();
    if (present) (*this)(field, value.emplace());
  }
  template <typename A, typename B>
  void operator()(std::string_view field, std::pair<A, B>& value) {
    (*this)(field, value.first);
    (*this)(field, value.second);
  }
  template <typename T>
    requires(std::is_class_v<T>)
  void operator()(std::string_view, T& value) {
    if (status_.ok()) fields(*this, value);
  }

  // For field functions that check what they read.
  bool ok() const { return status_.ok(); }
  void fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
  }
  // Everything was read and nothing is left.
  Status finish() {
    if (status_.ok() && reader_.remaining() != 0) {
      status_ = data_loss_error("bytes at the end", reader_.remaining());
    }
    return status_;
  }

 private:
  uint32_t read_count(std::string_view field) {
    uint32_t count = 0;
    (*this)(field, count);
    if (status_.ok() && count > reader_.remaining()) fail(field, count);
    return status_.ok() ? count : 0;
  }
  template <typename T>
  void fail(std::string_view field, T value) {
    fail(data_loss_error(field, static_cast<uint64_t>(value)));
  }
  Status data_loss_error(std::string_view field, uint64_t value) const {
    return base::data_loss(format("{}: '{}' before byte {} has the impossible value {}; the file is damaged: build it again", what_,
                                  field, reader_.position(), value));
  }

  base::SpanReader reader_;
  std::string_view what_;
  Status status_;
};

}  // namespace camshaft::engine
