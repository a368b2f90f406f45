#include "cli/model_id.h"

#include <algorithm>

#include "base/format.h"

namespace camshaft::cli {
namespace {

constexpr size_t kMaxBytes = 128;

bool belongs(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

}  // namespace

Status check_model_id(std::string_view id) {
  if (!id.empty() && id.size() <= kMaxBytes && id[0] != '.' && std::ranges::all_of(id, belongs)) return base::ok_status();
  if (id.size() > kMaxBytes)
    return base::invalid_argument(format("--name has {} bytes, at most {} are allowed", id.size(), kMaxBytes));
  return base::invalid_argument(
      format("--name is '{}', allowed are letters, digits, '.', '-' and '_', at least one and no '.' in front", id));
}

std::string model_id_of(std::string_view name) {
  std::string id;
  for (const char c : name) {
    if (id.size() == kMaxBytes) break;
    if (belongs(c)) {
      if (c != '.' || !id.empty()) id += c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "model" : id;
}

}  // namespace camshaft::cli
