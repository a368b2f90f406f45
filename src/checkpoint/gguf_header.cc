// Reads a GGUF header: magic, version, counts, then pairs and tensor descriptions. Values are read by gguf_values.cc.
#include "checkpoint/gguf_header.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "base/format.h"
#include "base/span_reader.h"
#include "base/utf8.h"
#include "checkpoint/gguf_types.h"
#include "checkpoint/gguf_values.h"
#include "checkpoint/layout.h"

namespace camshaft::checkpoint {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint64_t kMaxAlignment = 64 << 10;
constexpr uint64_t kMaxKeyBytes = 65'535;
// A key of one byte with its length, a type and one byte of value; a name of one byte with its length, rank, type and offset.
constexpr uint64_t kSmallestPair = 8 + 1 + 4 + 1, kSmallestTensor = 8 + 1 + 4 + 4 + 8;

bool is_vocabulary_array(std::string_view key) {
  return key == "tokenizer.ggml.tokens" || key == "tokenizer.ggml.scores" || key == "tokenizer.ggml.token_type" ||
         key == "tokenizer.ggml.merges" || key == "tokenizer.ggml.precompiled_charsmap";
}

class HeaderReader {
 public:
  HeaderReader(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what), reader_(bytes, what) {}

  Result<GgufHeader> read() {
    CS_RETURN_IF_ERROR(read_start());
    CS_RETURN_IF_ERROR(read_pairs());
    CS_RETURN_IF_ERROR(read_alignment());
    CS_RETURN_IF_ERROR(read_tensors());
    CS_RETURN_IF_ERROR(check_data());
    return std::move(header_);
  }

 private:
  Status read_start() {
    if (bytes_.empty()) return base::data_loss(format("{} is empty", what_));
    CS_ASSIGN_OR_RETURN(const auto magic, reader_.read_bytes(kMagic.size(), "magic"));
    if (as_text(magic) != kMagic) return base::data_loss(format("{} does not begin with 'GGUF': this is no GGUF file", what_));
    CS_ASSIGN_OR_RETURN(header_.version, reader_.read<uint32_t>("version"));
    CS_RETURN_IF_ERROR(check_version());
    CS_ASSIGN_OR_RETURN(num_tensors_, reader_.read<uint64_t>("tensor count"));
    CS_ASSIGN_OR_RETURN(num_pairs_, reader_.read<uint64_t>("pair count"));
    CS_RETURN_IF_ERROR(check_count("tensors", num_tensors_, kMaxTensors, kSmallestTensor));
    return check_count("metadata pairs", num_pairs_, kMaxGgufPairs, kSmallestPair);
  }

  Status check_version() const {
    if (header_.version == 2 || header_.version == 3) return base::ok_status();
    if ((header_.version & 0xffff) == 0 && header_.version != 0) {
      return base::unimplemented(
          format("{} is a big-endian GGUF file (version field {:#x}); only little-endian files are read, convert it", what_,
                 header_.version));
    }
    return base::unimplemented(format("{} has GGUF version {}; versions 2 and 3 are read", what_, header_.version));
  }

  Status check_count(std::string_view things, uint64_t count, uint64_t limit, uint64_t smallest) const {
    if (count > limit) return base::resource_exhausted(format("{} announces {} {}, the limit is {}", what_, count, things, limit));
    if (count > reader_.remaining() / smallest) {
      return base::data_loss(
          format("{} announces {} {}, but the {} bytes that are left hold at most {}; the file is cut or damaged", what_, count,
                 things, reader_.remaining(), reader_.remaining() / smallest));
    }
    return base::ok_status();
  }

  Status read_pairs() {
    std::unordered_set<std::string_view> keys;
    base::JsonObject pairs;
    pairs.reserve(num_pairs_);
    for (uint64_t i = 0; i < num_pairs_; ++i) {
      CS_ASSIGN_OR_RETURN(const std::string_view key, read_key(i));
      if (!keys.insert(key).second) return base::data_loss(format("{}: metadata key '{}' appears twice", what_, key));
      CS_ASSIGN_OR_RETURN(const uint32_t type, reader_.read<uint32_t>(key));
      const GgufValueReader values{&reader_, what_, key};
      if (type == static_cast<uint32_t>(GgufType::kArray) && is_vocabulary_array(key)) {
        CS_ASSIGN_OR_RETURN(header_.arrays[std::string(key)], values.skip_array());
      } else {
        CS_ASSIGN_OR_RETURN(Json value, values.read(type));
        pairs.emplace_back(std::string(key), std::move(value));
      }
    }
    header_.metadata = Json(std::move(pairs));
    return base::ok_status();
  }

  Result<std::string_view> read_key(uint64_t index) {
    CS_ASSIGN_OR_RETURN(const std::string_view key, read_string("metadata key", kMaxKeyBytes));
    if (key.empty()) return base::data_loss(format("{}: the key of metadata pair {} is empty", what_, index));
    if (!base::is_utf8(key)) return base::data_loss(format("{}: the key of metadata pair {} is not valid UTF-8", what_, index));
    return key;
  }

  Result<std::string_view> read_string(std::string_view field, uint64_t limit) {
    return GgufValueReader{&reader_, what_, field}.read_string(limit);
  }

  Status read_alignment() {
    const Json* value = header_.metadata.find("general.alignment");
    if (value == nullptr) return base::ok_status();
    const int64_t* alignment = value->int_if();
    if (alignment == nullptr || *alignment < 1 || *alignment > static_cast<int64_t>(kMaxAlignment) ||
        !std::has_single_bit(static_cast<uint64_t>(*alignment))) {
      return base::data_loss(
          format("{}: general.alignment is {}; a power of two from 1 to {} is expected", what_, value->dump(), kMaxAlignment));
    }
    header_.alignment = static_cast<uint64_t>(*alignment);
    return base::ok_status();
  }

  Status read_tensors() {
    CS_RETURN_IF_ERROR(check_count("tensors", num_tensors_, kMaxTensors, kSmallestTensor));
    std::unordered_set<std::string_view> names;
    header_.tensors.reserve(num_tensors_);  // the set's views stay valid
    for (uint64_t i = 0; i < num_tensors_; ++i) {
      CS_ASSIGN_OR_RETURN(GgufTensor tensor, read_tensor(i));
      header_.tensors.push_back(std::move(tensor));
      const std::string& name = header_.tensors.back().name;
      if (!names.insert(name).second) return base::data_loss(format("{}: tensor '{}' appears twice", what_, name));
    }
    return base::ok_status();
  }

  Result<GgufTensor> read_tensor(uint64_t index) {
    GgufTensor tensor;
    CS_ASSIGN_OR_RETURN(const std::string_view name, read_string("tensor name", kMaxNameBytes));
    CS_RETURN_IF_ERROR(check_tensor_name(name, index, what_));
    tensor.name = name;
    const std::string context = format("{}: tensor '{}'", what_, name);
    CS_ASSIGN_OR_RETURN(tensor.shape, read_shape(context));
    CS_ASSIGN_OR_RETURN(const uint32_t type, reader_.read<uint32_t>("tensor type"));
    CS_ASSIGN_OR_RETURN(tensor.offset, reader_.read<uint64_t>("tensor offset"));
    auto known = format_of_ggml_type(type);
    if (!known.ok()) return std::move(known).status().with_context(context);
    tensor.format = *known;
    auto size = tensor_bytes(tensor.format, tensor.shape);
    if (!size.ok()) return std::move(size).status().with_context(context);
    tensor.size = *size;
    return tensor;
  }

  Result<tensor::Shape> read_shape(std::string_view context) {
    CS_ASSIGN_OR_RETURN(const uint32_t rank, reader_.read<uint32_t>("tensor rank"));
    if (rank > kMaxGgufRank) return base::data_loss(format("{} has {} dimensions, the limit is {}", context, rank, kMaxGgufRank));
    tensor::Shape shape;
    for (uint32_t i = 0; i < rank; ++i) {
      CS_ASSIGN_OR_RETURN(const uint64_t extent, reader_.read<uint64_t>("tensor extent"));
      if (extent == 0 || extent > static_cast<uint64_t>(INT64_MAX)) {
        return base::data_loss(format("{}: dimension {} has the extent {}", context, i, extent));
      }
      shape.push_back(static_cast<int64_t>(extent));
    }
    std::reverse(shape.begin(), shape.end());  // the file has the innermost first
    return shape;
  }

  Status check_data() {
    header_.data_start = align_up(reader_.position(), header_.alignment);
    std::vector<Extent> extents;
    extents.reserve(header_.tensors.size());
    for (const GgufTensor& tensor : header_.tensors) extents.push_back({tensor.name, tensor.offset, tensor.size});
    const uint64_t data_size = bytes_.size() - std::min<uint64_t>(bytes_.size(), header_.data_start);
    return check_layout(std::move(extents), data_size, header_.alignment, what_);
  }

  std::span<const std::byte> bytes_;
  std::string_view what_;
  base::SpanReader reader_;
  uint64_t num_tensors_ = 0;
  uint64_t num_pairs_ = 0;
  GgufHeader header_;
};

}  // namespace

Result<GgufHeader> read_gguf_header(std::span<const std::byte> bytes, std::string_view what) {
  return HeaderReader(bytes, what).read();
}

}  // namespace camshaft::checkpoint
