// The value type and its accessors.
#include "base/json.h"

namespace camshaft::base {

Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

std::string_view Json::kind_name() const {
  switch (kind()) {
    case Kind::kNull: return "null";
    case Kind::kBool: return "boolean";
    case Kind::kInt:
    case Kind::kUint: return "integer";
    case Kind::kDouble: return "number";
    case Kind::kString: return "string";
    case Kind::kArray: return "array";
    case Kind::kObject: return "object";
  }
  return "unknown";
}

double Json::as_double() const {
  if (const int64_t* value = int_if()) return static_cast<double>(*value);
  if (const uint64_t* value = uint_if()) return static_cast<double>(*value);
  return std::get<double>(data_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const JsonMember& member : as_object()) {
    if (member.first == key) return &member.second;
  }
  return nullptr;
}

void Json::set(std::string key, Json value) {
  if (is_null()) data_ = JsonObject{};
  for (JsonMember& member : as_object()) {
    if (member.first == key) {
      member.second = std::move(value);
      return;
    }
  }
  as_object().emplace_back(std::move(key), std::move(value));
}

bool Json::operator==(const Json& other) const { return data_ == other.data_; }

}  // namespace camshaft::base
