// The header of one safetensors file: a length, a JSON object of tensor descriptions, then the data without gaps.
#include <algorithm>

#include "base/format.h"
#include "base/span_reader.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/layout.h"

namespace camshaft::checkpoint {
namespace {

using tensor::Format;

constexpr uint64_t kMaxHeaderValues = kMaxTensors * 20;

struct NamedFormat {
  std::string_view name;
  Format format;
};
constexpr NamedFormat kFormats[] = {{"F32", Format::kF32},        {"F16", Format::kF16},        {"BF16", Format::kBF16},
                                    {"F8_E4M3", Format::kF8E4M3}, {"F8_E5M2", Format::kF8E5M2}, {"F64", Format::kF64},
                                    {"I8", Format::kI8},          {"I16", Format::kI16},        {"I32", Format::kI32},
                                    {"I64", Format::kI64},        {"U8", Format::kU8},          {"U16", Format::kU16},
                                    {"U32", Format::kU32},        {"U64", Format::kU64},        {"BOOL", Format::kBool}};

Result<Format> parse_dtype(const Json& value) {
  if (!value.is_string()) return base::data_loss(format("dtype is of type {}, a string is expected", value.kind_name()));
  std::string known;
  for (const NamedFormat& entry : kFormats) {
    if (entry.name == value.as_string()) return entry.format;
    known.append(known.empty() ? "" : " ").append(entry.name);
  }
  return base::unimplemented(format("dtype '{}' is not supported; supported are {}", value.as_string(), known));
}

Result<tensor::Shape> parse_shape(const Json& value) {
  if (!value.is_array()) return base::data_loss(format("shape is of type {}, an array is expected", value.kind_name()));
  if (value.as_array().size() > kMaxRank) {
    return base::resource_exhausted(format("shape has {} dimensions, the limit is {}", value.as_array().size(), kMaxRank));
  }
  tensor::Shape shape;
  for (const Json& extent : value.as_array()) {
    if (extent.int_if() == nullptr || *extent.int_if() < 0) {
      return base::data_loss(format("shape holds {}; whole numbers from 0 are expected", extent.dump()));
    }
    shape.push_back(*extent.int_if());
  }
  return shape;
}

struct Range {
  uint64_t begin, end;
};

Result<Range> parse_offsets(const Json& value) {
  if (!value.is_array() || value.as_array().size() != 2) {
    return base::data_loss("data_offsets must be an array of two numbers, begin and end");
  }
  const int64_t* begin = value.as_array()[0].int_if();
  const int64_t* end = value.as_array()[1].int_if();
  if (begin == nullptr || end == nullptr || *begin < 0 || *end < *begin) {
    return base::data_loss(format("data_offsets are {}; whole numbers with 0 <= begin <= end are expected", value.dump()));
  }
  return Range{static_cast<uint64_t>(*begin), static_cast<uint64_t>(*end)};
}

struct Entry {
  NamedTensor tensor;
  Range range;
};

Result<Entry> parse_entry(const std::string& name, const Json& value) {
  if (!value.is_object()) return base::data_loss(format("its description is of type {}, an object is expected", value.kind_name()));
  const Json *dtype = nullptr, *shape = nullptr, *offsets = nullptr;
  for (const auto& [key, member] : value.as_object()) {
    const Json** slot = key == "dtype" ? &dtype : key == "shape" ? &shape : key == "data_offsets" ? &offsets : nullptr;
    if (slot == nullptr) return base::data_loss(format("its description has the unknown member '{}'", key));
    *slot = &member;
  }
  if (dtype == nullptr) return base::data_loss("its description lacks 'dtype'");
  if (shape == nullptr) return base::data_loss("its description lacks 'shape'");
  if (offsets == nullptr) return base::data_loss("its description lacks 'data_offsets'");
  Entry entry{{name, {}}, {}};
  CS_ASSIGN_OR_RETURN(entry.tensor.view.format, parse_dtype(*dtype));
  CS_ASSIGN_OR_RETURN(entry.tensor.view.shape, parse_shape(*shape));
  CS_ASSIGN_OR_RETURN(entry.range, parse_offsets(*offsets));
  CS_ASSIGN_OR_RETURN(const uint64_t size, tensor_bytes(entry.tensor.view.format, entry.tensor.view.shape));
  if (size != entry.range.end - entry.range.begin) {
    return base::data_loss(format("dtype and shape {} make {} bytes, data_offsets span {}",
                                  tensor::shape_text(entry.tensor.view.shape), size, entry.range.end - entry.range.begin));
  }
  return entry;
}

Status check_metadata(const Json& value, std::string_view what) {
  if (!value.is_object())
    return base::data_loss(format("{}: __metadata__ is of type {}, an object is expected", what, value.kind_name()));
  for (const auto& [key, member] : value.as_object()) {
    if (!member.is_string()) {
      return base::data_loss(
          format("{}: __metadata__ member '{}' is of type {}, a string is expected", what, key, member.kind_name()));
    }
  }
  return base::ok_status();
}

Result<std::vector<Entry>> parse_entries(const Json& header, std::string_view what) {
  std::vector<Entry> entries;
  entries.reserve(header.as_object().size());
  if (header.as_object().size() > kMaxTensors + 1) {
    return base::resource_exhausted(
        format("{} announces {} tensors, the limit is {}", what, header.as_object().size(), kMaxTensors));
  }
  for (const auto& [name, value] : header.as_object()) {
    if (name == "__metadata__") {
      CS_RETURN_IF_ERROR(check_metadata(value, what));
      continue;
    }
    CS_RETURN_IF_ERROR(check_tensor_name(name, entries.size(), what));
    auto entry = parse_entry(name, value);
    if (!entry.ok()) return std::move(entry).status().with_context(format("{}: tensor '{}'", what, name));
    entries.push_back(std::move(entry).value());
  }
  return entries;
}

Result<Json> read_json_header(base::SpanReader& reader, std::string_view what) {
  CS_ASSIGN_OR_RETURN(const uint64_t size, reader.read<uint64_t>("header length"));
  if (size > kMaxHeaderBytes) {
    return base::resource_exhausted(format("{}: the header has {} bytes, the limit is {}", what, size, kMaxHeaderBytes));
  }
  CS_ASSIGN_OR_RETURN(const auto bytes, reader.read_bytes(size, "header"));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with('{')) return base::data_loss(format("{}: the header does not begin with '{{'", what));
  auto json = base::parse_json(text, {.max_bytes = kMaxHeaderBytes, .max_depth = 8, .max_values = kMaxHeaderValues});
  if (!json.ok()) return std::move(json).status().with_context(format("{}: header", what));
  return json;
}

}  // namespace

// Tensors come in the order of their data.
Result<std::vector<NamedTensor>> read_safetensors_header(std::span<const std::byte> bytes, std::string_view name) {
  if (bytes.empty()) return base::data_loss(format("{} is empty", name));
  base::SpanReader reader(bytes, name);
  CS_ASSIGN_OR_RETURN(const Json header, read_json_header(reader, name));
  CS_ASSIGN_OR_RETURN(std::vector<Entry> entries, parse_entries(header, name));
  const auto data = bytes.subspan(reader.position());
  std::vector<Extent> extents;
  for (const Entry& entry : entries) {
    extents.push_back({entry.tensor.name, entry.range.begin, entry.range.end - entry.range.begin});
  }
  CS_RETURN_IF_ERROR(check_layout(std::move(extents), data.size(), 1, name));
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.range.begin < b.range.begin; });
  std::vector<NamedTensor> tensors;
  tensors.reserve(entries.size());
  for (Entry& entry : entries) {
    entry.tensor.view.bytes = data.subspan(entry.range.begin, entry.range.end - entry.range.begin);
    tensors.push_back(std::move(entry.tensor));
  }
  return tensors;
}

}  // namespace camshaft::checkpoint
