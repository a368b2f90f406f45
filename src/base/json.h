// Json: a parsed JSON value, and the reader with limits. The library behind it (nlohmann-json) is seen only in json_read.cc.
// Numbers keep their kind: integer literals that fit int64 or uint64 stay exact, everything else is a double.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"

namespace camshaft::base {

class Json;
using JsonArray = std::vector<Json>;
using JsonMember = std::pair<std::string, Json>;
// Members in file order (templates and tools need it); keys are unique: the reader refuses duplicates.
using JsonObject = std::vector<JsonMember>;

class Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };

  Json() = default;
  Json(std::nullptr_t) {}
  Json(bool value) : data_(value) {}
  Json(int value) : data_(static_cast<int64_t>(value)) {}
  Json(int64_t value) : data_(value) {}
  Json(unsigned value) : data_(static_cast<int64_t>(value)) {}
  Json(uint64_t value) : data_(value <= INT64_MAX ? Data(static_cast<int64_t>(value)) : Data(value)) {}
  Json(double value) : data_(value) {}
  Json(const char* value) : data_(std::string(value)) {}
  Json(std::string value) : data_(std::move(value)) {}
  Json(std::string_view value) : data_(std::string(value)) {}
  Json(JsonArray value) : data_(std::move(value)) {}
  Json(JsonObject value) : data_(std::move(value)) {}
  // In json.cc: inlined moves of the variant cost code everywhere, and g++ takes parts of them for uninitialised reads.
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  // An integer literal, signed or unsigned.
  bool is_integer() const { return kind() == Kind::kInt || kind() == Kind::kUint; }
  bool is_number() const { return is_integer() || kind() == Kind::kDouble; }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }
  // "null", "boolean", "integer", "number", "string", "array", "object": for messages.
  std::string_view kind_name() const;

  // The caller has checked the kind.
  bool as_bool() const { return std::get<bool>(data_); }
  const std::string& as_string() const { return std::get<std::string>(data_); }
  const JsonArray& as_array() const { return std::get<JsonArray>(data_); }
  JsonArray& as_array() { return std::get<JsonArray>(data_); }
  const JsonObject& as_object() const { return std::get<JsonObject>(data_); }
  JsonObject& as_object() { return std::get<JsonObject>(data_); }
  // Any number as double.
  double as_double() const;
  // Nothing unless an integer (or a double without fraction is NOT accepted) within int64.
  const int64_t* int_if() const { return std::get_if<int64_t>(&data_); }
  const uint64_t* uint_if() const { return std::get_if<uint64_t>(&data_); }

  // Member by name, or nullptr (also when this is no object).
  const Json* find(std::string_view key) const;
  // Appends or replaces a member; this must be an object (a null becomes one).
  void set(std::string key, Json value);

  // Kind and value; members in the same order.
  bool operator==(const Json& other) const;

  // Compact JSON. UTF-8 stays as it is; control characters below U+0020, U+0085, U+2028 and U+2029 are written as escapes
  // (\b \f \n \r \t in their short form, the others as \uXXXX).
  // Doubles are the shortest text that reads back; NaN and infinities become null.
  std::string dump() const;
  // With line breaks and `indent` spaces a level.
  std::string dump_pretty(int indent) const;

 private:
  using Data = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, JsonArray, JsonObject>;
  Data data_;
};

// kInt holds every integer that fits int64; kUint only those above.
struct JsonLimits {
  uint64_t max_bytes = uint64_t{64} << 20;
  uint32_t max_depth = 64;
  uint64_t max_values = 1'000'000;
};

// The text must be valid UTF-8 and one JSON value. Errors name line and column. Duplicate keys are refused.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});

// Appends `text` as a JSON string with quotes, escaped as dump() does: the hot path of the event stream.
void append_json_string(std::string& out, std::string_view text);
void append_json_double(std::string& out, double value);

}  // namespace camshaft::base

namespace camshaft {
using base::Json;
}
