// Reads configuration values with their types and limits checked; every error names file, key, what was found and what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/status.h"

namespace camshaft::models {

struct IntLimits {
  int64_t min = 1;
  int64_t max = 1;
};

// One JSON object: config.json, a member of it, or GGUF's metadata. A null counts as absent.
class ConfigReader {
 public:
  // `where` stands in front of keys in errors: "config.json: ", "GGUF: ", "config.json: rope_scaling.". `object` outlives this.
  ConfigReader(const Json& object, std::string where) : object_(&object), where_(std::move(where)) {}

  bool has(std::string_view key) const { return find(key) != nullptr; }
  Result<int64_t> integer(std::string_view key, IntLimits limits) const;
  Result<int64_t> integer_or(std::string_view key, int64_t fallback, IntLimits limits) const;
  // Finite and above zero.
  Result<double> positive(std::string_view key) const;
  Result<double> positive_or(std::string_view key, double fallback) const;
  Result<bool> flag_or(std::string_view key, bool fallback) const;
  Result<std::string> text_or(std::string_view key, std::string_view fallback) const;
  // A member that is an object; nothing where it is absent.
  Result<std::optional<ConfigReader>> member(std::string_view key) const;

  // "config.json: num_attention_heads"
  std::string name_of(std::string_view key) const { return where_ + std::string(key); }

 private:
  const Json* find(std::string_view key) const;
  Status missing(std::string_view key) const;
  Status wrong_kind(std::string_view key, const Json& found, std::string_view expected) const;
  const Json* object_;
  std::string where_;
};

}  // namespace camshaft::models
