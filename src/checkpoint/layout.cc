// Checks of tensor placement that GGUF and safetensors share.
#include "checkpoint/layout.h"

#include <algorithm>
#include <tuple>

#include "base/format.h"
#include "base/span_reader.h"
#include "base/utf8.h"

namespace camshaft::checkpoint {
namespace {

Status check_inside(const Extent& extent, uint64_t data_size, uint64_t alignment, std::string_view what) {
  uint64_t end = 0;
  if (!base::checked_add(extent.offset, extent.size, &end)) {
    return base::data_loss(format("{}: tensor '{}' has offset {} and {} bytes: their sum is past 64 bits", what, extent.name,
                                  extent.offset, extent.size));
  }
  if (extent.offset % alignment != 0) {
    return base::data_loss(format("{}: tensor '{}' has offset {}, which is no multiple of the alignment {}", what, extent.name,
                                  extent.offset, alignment));
  }
  if (end > data_size) {
    return base::data_loss(
        format("{}: tensor '{}' takes bytes {} to {} of the data, but only {} are there; the file is cut or damaged", what,
               extent.name, extent.offset, end, data_size));
  }
  return base::ok_status();
}

}  // namespace

uint64_t align_up(uint64_t value, uint64_t alignment) {
  uint64_t sum = 0;
  if (!base::checked_add(value, alignment - 1, &sum)) return 0;
  return sum & ~(alignment - 1);
}

Status check_layout(std::vector<Extent> extents, uint64_t data_size, uint64_t alignment, std::string_view what) {
  for (const Extent& extent : extents) CS_RETURN_IF_ERROR(check_inside(extent, data_size, alignment, what));
  std::sort(extents.begin(), extents.end(),
            [](const Extent& a, const Extent& b) { return std::tie(a.offset, a.size) < std::tie(b.offset, b.size); });
  uint64_t position = 0;
  std::string_view previous;
  for (const Extent& extent : extents) {
    if (extent.offset < position) {
      return base::data_loss(
          format("{}: tensors '{}' and '{}' overlap: the second starts at byte {} of the data, the first ends at {}", what,
                 previous, extent.name, extent.offset, position));
    }
    if (extent.offset > align_up(position, alignment)) {
      return base::data_loss(format("{}: bytes {} to {} of the data, before tensor '{}', belong to no tensor", what, position,
                                    extent.offset, extent.name));
    }
    position = extent.offset + extent.size;
    previous = extent.name;
  }
  if (data_size > align_up(position, alignment)) {
    return base::data_loss(format("{}: bytes {} to {} at the end of the data belong to no tensor", what, position, data_size));
  }
  return base::ok_status();
}

Result<uint64_t> tensor_bytes(tensor::Format format, const tensor::Shape& shape) {
  CS_ASSIGN_OR_RETURN(const int64_t elements, tensor::num_elements(shape));
  const tensor::FormatInfo& info = tensor::format_info(format);
  const int64_t columns = shape.empty() ? 1 : shape.back();
  if (columns % info.block_elements != 0) {
    return base::data_loss(base::format("shape {}: rows of {} elements are no whole {} blocks of {}", tensor::shape_text(shape),
                                        columns, info.name, info.block_elements));
  }
  uint64_t bytes = 0;
  if (!base::checked_mul(static_cast<uint64_t>(elements / info.block_elements), static_cast<uint64_t>(info.block_bytes), &bytes)) {
    return base::data_loss(base::format("shape {} takes more bytes than 64 bits can count", tensor::shape_text(shape)));
  }
  return bytes;
}

Status check_tensor_name(std::string_view name, uint64_t index, std::string_view what) {
  if (name.empty()) return base::data_loss(format("{}: tensor {} has an empty name", what, index));
  if (name.size() > kMaxNameBytes) {
    return base::resource_exhausted(
        format("{}: the name of tensor {} has {} bytes, the limit is {}", what, index, name.size(), kMaxNameBytes));
  }
  if (!base::is_utf8(name)) return base::data_loss(format("{}: the name of tensor {} is not valid UTF-8", what, index));
  return base::ok_status();
}

}  // namespace camshaft::checkpoint
