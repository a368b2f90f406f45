// Metadata values of GGUF: thirteen types to Json, and vocabulary arrays to vectors.
#include "checkpoint/gguf_values.h"

#include <type_traits>

#include "base/format.h"
#include "base/utf8.h"
#include "checkpoint/gguf_types.h"

namespace camshaft::checkpoint {
namespace {

constexpr int kMaxArrayDepth = 2;  // an array of arrays

template <typename T>
Json number_to_json(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return Json(static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return value > static_cast<uint64_t>(INT64_MAX) ? Json(value) : Json(static_cast<int64_t>(value));
  } else {
    return Json(static_cast<int64_t>(value));
  }
}

}  // namespace

Result<std::string_view> GgufValueReader::read_string(uint64_t limit) const {
  CS_ASSIGN_OR_RETURN(const uint64_t size, reader->read<uint64_t>(key));
  if (size > limit) {
    return base::resource_exhausted(
        format("{}: '{}' at byte {} is a string of {} bytes, the limit is {}", what, key, reader->position(), size, limit));
  }
  CS_ASSIGN_OR_RETURN(const auto bytes, reader->read_bytes(size, key));
  return as_text(bytes);
}

Result<Json> GgufValueReader::read_text() const {
  CS_ASSIGN_OR_RETURN(const std::string_view text, read_string(kMaxGgufString));
  if (!base::is_utf8(text)) return base::data_loss(format("{}: '{}' is a string that is not valid UTF-8", what, key));
  return Json(text);
}

Result<Json> GgufValueReader::read_bool() const {
  CS_ASSIGN_OR_RETURN(const uint8_t value, reader->read<uint8_t>(key));
  if (value > 1) return base::data_loss(format("{}: '{}' is a bool with the byte {}; 0 or 1 is expected", what, key, value));
  return Json(value == 1);
}

template <typename T>
Result<Json> GgufValueReader::read_number() const {
  CS_ASSIGN_OR_RETURN(const T value, reader->read<T>(key));
  return number_to_json(value);
}

Result<Json> GgufValueReader::read_value(uint32_t type, int depth) const {
  switch (static_cast<GgufType>(type)) {
    case GgufType::kU8: return read_number<uint8_t>();
    case GgufType::kI8: return read_number<int8_t>();
    case GgufType::kU16: return read_number<uint16_t>();
    case GgufType::kI16: return read_number<int16_t>();
    case GgufType::kU32: return read_number<uint32_t>();
    case GgufType::kI32: return read_number<int32_t>();
    case GgufType::kF32: return read_number<float>();
    case GgufType::kU64: return read_number<uint64_t>();
    case GgufType::kI64: return read_number<int64_t>();
    case GgufType::kF64: return read_number<double>();
    case GgufType::kBool: return read_bool();
    case GgufType::kString: return read_text();
    case GgufType::kArray: return read_array(depth + 1);
  }
  return base::data_loss(format("{}: '{}' has the unknown value type {}", what, key, type));
}

Result<GgufValueReader::ArrayStart> GgufValueReader::read_array_start() const {
  CS_ASSIGN_OR_RETURN(const uint32_t element_type, reader->read<uint32_t>(key));
  CS_ASSIGN_OR_RETURN(const uint64_t count, reader->read<uint64_t>(key));
  const uint64_t smallest = gguf_smallest_size(element_type);
  if (smallest == 0) return base::data_loss(format("{}: '{}' is an array of the unknown value type {}", what, key, element_type));
  if (count > kMaxGgufArray) {
    return base::resource_exhausted(format("{}: '{}' has {} elements, the limit is {}", what, key, count, kMaxGgufArray));
  }
  if (count > reader->remaining() / smallest) {
    return base::data_loss(format("{}: '{}' announces {} elements of {}, but only {} bytes are left; the file is cut or damaged",
                                  what, key, count, gguf_type_name(element_type), reader->remaining()));
  }
  return ArrayStart{element_type, count};
}

Result<Json> GgufValueReader::read_array(int depth) const {
  if (depth > kMaxArrayDepth) return base::data_loss(format("{}: '{}' nests arrays deeper than {}", what, key, kMaxArrayDepth));
  CS_ASSIGN_OR_RETURN(const ArrayStart start, read_array_start());
  base::JsonArray values;
  values.reserve(start.count);
  for (uint64_t i = 0; i < start.count; ++i) {
    CS_ASSIGN_OR_RETURN(Json value, read_value(start.element_type, depth));
    values.push_back(std::move(value));
  }
  return Json(std::move(values));
}

Result<GgufArray> GgufValueReader::skip_array() const {
  CS_ASSIGN_OR_RETURN(const ArrayStart start, read_array_start());
  GgufArray array{start.element_type, start.count, {}};
  if (const uint64_t size = gguf_type_size(start.element_type); size > 0) {
    CS_ASSIGN_OR_RETURN(array.bytes, reader->read_bytes(start.count * size, key));
    return array;
  }
  if (start.element_type != static_cast<uint32_t>(GgufType::kString)) {
    return base::data_loss(format("{}: '{}' is an array of arrays; strings or numbers are expected", what, key));
  }
  base::SpanReader ahead = *reader;
  for (uint64_t i = 0; i < start.count; ++i) {
    CS_RETURN_IF_ERROR((GgufValueReader{&ahead, what, key}.read_string(kMaxGgufString).status()));
  }
  CS_ASSIGN_OR_RETURN(array.bytes, reader->read_bytes(ahead.position() - reader->position(), key));
  return array;
}

Result<std::vector<std::string>> gguf_strings(const GgufArray& array, std::string_view what) {
  if (array.element_type != static_cast<uint32_t>(GgufType::kString)) {
    return base::data_loss(format("{} is an array of {}, strings are expected", what, gguf_type_name(array.element_type)));
  }
  base::SpanReader reader(array.bytes, what);
  std::vector<std::string> strings;
  strings.reserve(array.count);
  for (uint64_t i = 0; i < array.count; ++i) {
    CS_ASSIGN_OR_RETURN(const std::string_view text, (GgufValueReader{&reader, what, "element"}.read_string(kMaxGgufString)));
    if (!base::is_utf8(text)) return base::data_loss(format("{}: element {} is not valid UTF-8", what, i));
    strings.emplace_back(text);
  }
  return strings;
}

Result<std::vector<double>> gguf_numbers(const GgufArray& array, std::string_view what) {
  if (array.element_type == static_cast<uint32_t>(GgufType::kString) ||
      array.element_type == static_cast<uint32_t>(GgufType::kBool)) {
    return base::data_loss(format("{} is an array of {}, numbers are expected", what, gguf_type_name(array.element_type)));
  }
  base::SpanReader reader(array.bytes, what);
  std::vector<double> numbers;
  numbers.reserve(array.count);
  for (uint64_t i = 0; i < array.count; ++i) {
    CS_ASSIGN_OR_RETURN(const Json value, (GgufValueReader{&reader, what, "element"}.read(array.element_type)));
    numbers.push_back(value.as_double());
  }
  return numbers;
}

}  // namespace camshaft::checkpoint
