// Text form of value types: "f32 [T, 576]", "kv [0, 3, 64]", "weight q4_1 [576, 1536]".
#include <charconv>
#include <system_error>

#include "base/format.h"
#include "ops/op.h"

namespace camshaft::ops {
namespace {

using Kind = ValueType::Kind;
constexpr std::string_view kKindNames[] = {"f32", "ids", "row_index", "kv", "weight"};

std::string dim_text(const Dim& dim) {
  if (dim.symbol == Symbol::kTokens) return "T";
  if (dim.symbol == Symbol::kLogitRows) return "R";
  return format("{}", dim.size);
}

bool read_dim(std::string_view text, Dim& out) {
  if (text == "T" || text == "R") {
    out = text == "T" ? Dim::tokens() : Dim::logit_rows();
    return true;
  }
  out = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out.size);
  return error == std::errc() && end == text.data() + text.size() && out.size >= 0;
}

Status bad_type(std::string_view text) {
  return base::invalid_argument(
      format("'{}' is no type; types look like 'f32 [T, 576]', 'ids [T]', 'kv [0, 3, 64]', 'weight q4_1 [576, 1536]'", text));
}

// The part between the brackets.
bool read_shape(std::string_view text, std::vector<Dim>& out) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(", ", begin), text.size());
    if (!read_dim(text.substr(begin, comma - begin), out.emplace_back())) return false;
    begin = comma + 2;
  }
  return true;
}

size_t wanted_rank(Kind kind) { return kind == Kind::kRows ? 2 : kind == Kind::kKvState ? 3 : 1; }

bool symbols_fit(const ValueType& type) {
  for (size_t i = 0; i < type.shape.size(); ++i) {
    const bool symbolic = type.shape[i].symbol != Symbol::kNone;
    const bool rows = type.kind == Kind::kRows || type.kind == Kind::kIds || type.kind == Kind::kRowIndex;
    if (symbolic != (rows && i == 0)) return false;
  }
  return type.kind == Kind::kWeight ? !type.shape.empty() : type.shape.size() == wanted_rank(type.kind);
}

}  // namespace

std::string type_text(const ValueType& type) {
  std::string out(kKindNames[static_cast<size_t>(type.kind)]);
  if (type.kind == Kind::kWeight) out += format(" {}", tensor::format_info(type.format).name);
  out += " [";
  for (size_t i = 0; i < type.shape.size(); ++i) out += (i == 0 ? "" : ", ") + dim_text(type.shape[i]);
  return out + "]";
}

Result<ValueType> parse_type(std::string_view text) {
  const size_t bracket = text.find(" [");
  if (bracket == std::string_view::npos || !text.ends_with(']')) return bad_type(text);
  std::string_view head = text.substr(0, bracket);
  ValueType type;
  if (head.starts_with("weight ")) {
    type.kind = Kind::kWeight;
    CS_ASSIGN_OR_RETURN(type.format, tensor::parse_format(head.substr(7)));
  } else {
    size_t kind = 0;
    while (kind < static_cast<size_t>(Kind::kWeight) && kKindNames[kind] != head) ++kind;
    if (kind == static_cast<size_t>(Kind::kWeight)) return bad_type(text);
    type.kind = static_cast<Kind>(kind);
  }
  if (!read_shape(text.substr(bracket + 2, text.size() - bracket - 3), type.shape) || !symbols_fit(type)) return bad_type(text);
  return type;
}

}  // namespace camshaft::ops
