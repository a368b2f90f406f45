// Data of a case: activations with a few outliers, weights packed (or made of sane blocks) in their format, a filled cache.
#include "problem.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "tensor/dtype.h"

namespace camshaft::opcheck {
namespace {

using tensor::Format;

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  uint64_t bits() { return engine_(); }
  int64_t below(int64_t limit) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(limit)); }
  // Roughly normal, mean 0 and deviation 1: the sum of four uniform numbers.
  float normal() {
    const uint64_t word = engine_();
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += static_cast<float>(word >> (16 * i) & 0xffff) / 65536.0f - 0.5f;
    return sum * 1.7320508f;
  }

 private:
  std::mt19937_64 engine_;
};

Rows make_rows(int64_t rows, int64_t columns, Random& random) {
  Rows out{columns, columns + kPadding, {}};
  out.bits.assign(static_cast<size_t>(rows * out.stride), 0x7fc0abcdu);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < columns; ++i) {
      const float x = random.normal() * (random.below(200) == 0 ? 20.0f : 1.0f);
      out.bits[static_cast<size_t>(row * out.stride + i)] = std::bit_cast<uint32_t>(x);
    }
  }
  return out;
}

Input rows_input(int64_t rows, int64_t columns, Random& random) {
  Input input;
  input.rows = make_rows(rows, columns, random);
  return input;
}

Input ids_input(int64_t rows, int64_t limit, Random& random) {
  Input input;
  input.rows = {1, 1, std::vector<uint32_t>(static_cast<size_t>(rows))};
  for (uint32_t& id : input.rows.bits) id = static_cast<uint32_t>(random.below(limit));
  return input;
}

Input vector_input(int64_t n, float mean, Random& random) {
  Input input;
  input.kind = Input::Kind::kVector;
  for (int64_t i = 0; i < n; ++i) input.vector.push_back(mean + 0.3f * random.normal());
  return input;
}

Input kv_input() {
  Input input;
  input.kind = Input::Kind::kKv;
  return input;
}

// Where a block's f16 scales stand, for the formats that the project reads but never writes.
std::vector<int> scale_offsets(Format format) {
  switch (format) {
    case Format::kQ4_0:
    case Format::kQ5_0: return {0};
    case Format::kQ5_1:
    case Format::kQ4_K:
    case Format::kQ5_K: return {0, 2};
    case Format::kQ6_K: return {208};
    default: return {};
  }
}

// Random bits with scales of a plausible size; 8-bit floats lose their top exponent bit, which keeps them small and finite.
void random_blocks(Format format, std::vector<std::byte>& bytes, Random& random) {
  const bool eight_bit_float = format == Format::kF8E4M3 || format == Format::kF8E5M2;
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits() & (eight_bit_float ? 0xbf : 0xff));
  const auto block = static_cast<size_t>(tensor::format_info(format).block_bytes);
  for (size_t begin = 0; begin < bytes.size(); begin += block) {
    for (const int offset : scale_offsets(format)) {
      const uint16_t scale = tensor::f32_to_f16(0.01f * random.normal());
      memcpy(bytes.data() + begin + offset, &scale, sizeof(scale));
    }
  }
}

Input weight_input(Format format, int64_t n, int64_t k, Random& random) {
  Input input;
  input.kind = Input::Kind::kWeight;
  input.weight = {format, n, k, std::vector<std::byte>(static_cast<size_t>(n * tensor::format_bytes(format, k)))};
  // Two file formats have the bytes of one of ours, which has a packer.
  const Format packed = format == Format::kQ8_0 ? Format::kI8B32 : format == Format::kQ4_1 ? Format::kI4B32M : format;
  const tensor::FormatInfo& info = tensor::format_info(packed);
  if (info.pack == nullptr) {
    random_blocks(format, input.weight.bytes, random);
    return input;
  }
  std::vector<float> row(static_cast<size_t>(k));
  const float size = 1.0f / std::sqrt(static_cast<float>(k));
  for (int64_t i = 0; i < n; ++i) {
    for (float& x : row) x = size * random.normal();
    info.pack(row.data(), input.weight.bytes.data() + i * tensor::format_bytes(format, k), k);
  }
  return input;
}

int64_t length_of(const SequenceSpec& sequence) { return sequence.start + sequence.rows; }

void store(const ops::KvLayout& kv, std::byte* at, float x) {
  if (kv.format == Format::kF32) {
    memcpy(at, &x, sizeof(x));
  } else {
    const uint16_t half = tensor::f32_to_f16(x);
    memcpy(at, &half, sizeof(half));
  }
}

// Keys and values of one layer for the positions in front of `end`.
void fill_sequence(Problem& problem, const std::vector<int32_t>& blocks, int64_t layer, int64_t end, Random& random) {
  constexpr int64_t kBlock = ops::KvLayout::kBlockTokens;
  const ops::KvLayout& kv = problem.kv;
  const bool dim_major = kv.key_order == ops::KvLayout::KeyOrder::kDimMajor;
  for (int64_t position = 0; position < end; ++position) {
    const int64_t slot = position % kBlock;
    std::byte* block = problem.cache.data() + blocks[static_cast<size_t>(position / kBlock)] * kv.block_bytes();
    for (int64_t i = 0; i < kv.kv_heads * kv.head_dim; ++i) {
      const int64_t head = i / kv.head_dim, dim = i % kv.head_dim;
      const int64_t key = dim_major ? dim * kBlock + slot : slot * kv.head_dim + dim;
      store(kv, block + kv.key_offset(layer, head) + key * kv.element_bytes(), random.normal());
      store(kv, block + kv.value_offset(layer, head) + (slot * kv.head_dim + dim) * kv.element_bytes(), random.normal());
    }
  }
}

// Blocks in random order, a few of them nobody's. Attention finds its new rows' keys written, the writing ops do not.
void make_cache(Problem& problem, const ops::KvShape& shape, Random& random) {
  constexpr int64_t kBlock = ops::KvLayout::kBlockTokens;
  problem.kv = {problem.spec.kv_format, problem.spec.key_order, shape.layer + 1, shape.kv_heads, shape.head_dim};
  int64_t total = 3;
  for (const SequenceSpec& sequence : problem.spec.sequences) total += (length_of(sequence) + kBlock - 1) / kBlock;
  std::vector<int32_t> free(static_cast<size_t>(total));
  std::iota(free.begin(), free.end(), 0);
  for (size_t i = free.size() - 1; i > 0; --i)
    std::swap(free[i], free[static_cast<size_t>(random.below(static_cast<int64_t>(i) + 1))]);
  problem.cache.resize(static_cast<size_t>(total * problem.kv.block_bytes()));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (size_t at = 0; at < problem.cache.size(); at += static_cast<size_t>(problem.kv.element_bytes())) {
    store(problem.kv, problem.cache.data() + at, nan);
  }
  for (const SequenceSpec& sequence : problem.spec.sequences) {
    std::vector<int32_t>& blocks = problem.blocks.emplace_back();
    for (int64_t position = 0; position < length_of(sequence); position += kBlock) {
      blocks.push_back(free.back());
      free.pop_back();
    }
    fill_sequence(problem, blocks, shape.layer, problem.writes_cache ? sequence.start : length_of(sequence), random);
  }
}

void make_rope_table(Problem& problem, const ops::RopeParams& rope) {
  int64_t length = 0;
  for (const SequenceSpec& sequence : problem.spec.sequences) length = std::max(length, length_of(sequence));
  problem.rope_table.resize(static_cast<size_t>(length * rope.rotary_dim));
  ops::fill_rope_table(rope, length, problem.rope_table.data());
}

// One overload an op: its inputs in the order of the description, and its outputs.
struct Maker {
  Problem& problem;
  Random random;
  int64_t rows() const { return problem.spec.rows; }

  void columns(std::initializer_list<int64_t> inputs, std::vector<int64_t> outputs) {
    for (const int64_t n : inputs) problem.inputs.push_back(rows_input(rows(), n, random));
    problem.output_columns = std::move(outputs);
  }
  void operator()(const ops::EmbeddingDesc& d) {
    problem.inputs.push_back(ids_input(rows(), d.vocab, random));
    problem.inputs.push_back(weight_input(d.weight, d.vocab, d.hidden, random));
    problem.output_columns = {d.hidden};
  }
  void operator()(const ops::RmsNormDesc& d) {
    columns({d.hidden}, {d.hidden});
    problem.inputs.push_back(vector_input(d.hidden, 1.0f, random));
  }
  void operator()(const ops::AddRmsNormDesc& d) {
    columns({d.hidden, d.hidden}, {d.hidden, d.hidden});
    problem.inputs.push_back(vector_input(d.hidden, 1.0f, random));
  }
  void operator()(const ops::GemmDesc& d) {
    columns({d.k}, {d.n});
    problem.inputs.push_back(weight_input(d.weight, d.n, d.k, random));
    if (d.bias) problem.inputs.push_back(vector_input(d.n, 0.0f, random));
  }
  void operator()(const ops::AddDesc& d) { columns({d.columns, d.columns}, {d.columns}); }
  void operator()(const ops::MulDesc& d) { columns({d.columns, d.columns}, {d.columns}); }
  void operator()(const ops::SiluDesc& d) { columns({d.columns}, {d.columns}); }
  void operator()(const ops::SwigluDesc& d) {
    if (d.merged) {
      columns({2 * d.columns}, {d.columns});
    } else {
      columns({d.columns, d.columns}, {d.columns});
    }
  }
  void operator()(const ops::SliceDesc& d) { columns({d.begin + d.columns + 5}, {d.columns}); }
  void operator()(const ops::RopeDesc& d) {
    columns({d.heads * d.rope.head_dim}, {d.heads * d.rope.head_dim});
    make_rope_table(problem, d.rope);
  }
  void operator()(const ops::KvWriteDesc& d) {
    columns({d.kv.kv_heads * d.kv.head_dim, d.kv.kv_heads * d.kv.head_dim}, {});
    problem.writes_cache = true;
    make_cache(problem, d.kv, random);
  }
  void operator()(const ops::RopeKvWriteDesc& d) {
    columns({(d.heads + 2 * d.kv.kv_heads) * d.kv.head_dim}, {d.heads * d.kv.head_dim});
    problem.writes_cache = true;
    make_cache(problem, d.kv, random);
    make_rope_table(problem, d.rope);
  }
  void operator()(const ops::AttentionDesc& d) {
    columns({d.heads * d.kv.head_dim}, {d.heads * d.kv.head_dim});
    problem.inputs.push_back(kv_input());
    make_cache(problem, d.kv, random);
  }
  void operator()(const ops::GatherRowsDesc& d) {
    const int64_t source_rows = rows() + 3;
    problem.inputs.push_back(rows_input(source_rows, d.columns, random));
    problem.inputs.back().whole = true;
    problem.inputs.push_back(ids_input(rows(), source_rows, random));
    problem.output_columns = {d.columns};
  }
  void operator()(const ops::ConcatRowsDesc&) {}
};

}  // namespace

Problem make_problem(const Case& spec) {
  Problem problem;
  problem.spec = spec;
  for (const SequenceSpec& sequence : spec.sequences) {
    for (int64_t i = 0; i < sequence.rows; ++i) problem.positions.push_back(static_cast<int32_t>(sequence.start + i));
  }
  std::visit(Maker{problem, Random(spec.seed)}, spec.desc);
  return problem;
}

AlignedBytes pack_weight(const WeightRows& weight, const kernels::WeightLayout& layout) {
  AlignedBytes packed(static_cast<size_t>(kernels::packed_bytes(layout, weight.n, weight.k)));
  const int64_t row_bytes = tensor::format_bytes(weight.format, weight.k);
  std::vector<const std::byte*> rows(static_cast<size_t>(layout.row_group));
  std::byte* out = packed.data();
  for (int64_t first = 0; first < weight.n; first += layout.row_group) {
    for (int64_t i = 0; i < layout.row_group; ++i) {
      rows[static_cast<size_t>(i)] = first + i < weight.n ? weight.bytes.data() + (first + i) * row_bytes : nullptr;
    }
    layout.pack_group(rows.data(), weight.k, out);
    out += layout.group_bytes(weight.k);
  }
  return packed;
}

}  // namespace camshaft::opcheck
