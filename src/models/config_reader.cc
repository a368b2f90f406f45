// See config_reader.h.
#include "models/config_reader.h"

#include <cmath>

#include "base/format.h"

namespace camshaft::models {

const Json* ConfigReader::find(std::string_view key) const {
  const Json* value = object_->find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Status ConfigReader::missing(std::string_view key) const {
  return base::invalid_argument(format("{} is missing; without it the model cannot be built", name_of(key)));
}

Status ConfigReader::wrong_kind(std::string_view key, const Json& found, std::string_view expected) const {
  return base::invalid_argument(format("{} is of kind {}, expected {}", name_of(key), found.kind_name(), expected));
}

Result<int64_t> ConfigReader::integer(std::string_view key, IntLimits limits) const {
  const Json* value = find(key);
  if (value == nullptr) return missing(key);
  if (!value->is_integer()) return wrong_kind(key, *value, "integer");
  const int64_t* number = value->int_if();
  if (number != nullptr && *number >= limits.min && *number <= limits.max) return *number;
  return base::invalid_argument(
      format("{}={} is out of range; {} to {} is allowed", name_of(key), value->dump(), limits.min, limits.max));
}

Result<int64_t> ConfigReader::integer_or(std::string_view key, int64_t fallback, IntLimits limits) const {
  if (!has(key)) return fallback;
  return integer(key, limits);
}

Result<double> ConfigReader::positive(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return missing(key);
  if (!value->is_number()) return wrong_kind(key, *value, "number");
  const double number = value->as_double();
  if (std::isfinite(number) && number > 0) return number;
  return base::invalid_argument(format("{}={} is not a positive number", name_of(key), number));
}

Result<double> ConfigReader::positive_or(std::string_view key, double fallback) const {
  if (!has(key)) return fallback;
  return positive(key);
}

Result<bool> ConfigReader::flag_or(std::string_view key, bool fallback) const {
  const Json* value = find(key);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) return wrong_kind(key, *value, "boolean");
  return value->as_bool();
}

Result<std::string> ConfigReader::text_or(std::string_view key, std::string_view fallback) const {
  const Json* value = find(key);
  if (value == nullptr) return std::string(fallback);
  if (!value->is_string()) return wrong_kind(key, *value, "string");
  return value->as_string();
}

Result<std::optional<ConfigReader>> ConfigReader::member(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::optional<ConfigReader>();
  if (!value->is_object()) return wrong_kind(key, *value, "object");
  return std::optional<ConfigReader>(ConfigReader(*value, name_of(key) + "."));
}

}  // namespace camshaft::models
