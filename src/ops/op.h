// What each op means: one description struct an op, with every static size in it; shapes over symbolic row counts; cost.
// Graph nodes, plan steps, reference and fast kernels all speak of the same description. Activations are f32 rows between ops.
//
// Row counts are symbolic: T tokens of a batch (all sequences' new tokens, one after the other) and R rows that want logits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "tensor/quant_format.h"

namespace camshaft::ops {

enum class Symbol : uint8_t { kNone, kTokens, kLogitRows };

// One dimension: fixed, or the batch's T or R.
struct Dim {
  Symbol symbol = Symbol::kNone;
  int64_t size = 0;  // when fixed
  static Dim fixed(int64_t size) { return {Symbol::kNone, size}; }
  static Dim tokens() { return {Symbol::kTokens, 0}; }
  static Dim logit_rows() { return {Symbol::kLogitRows, 0}; }
  bool operator==(const Dim&) const = default;
};

// Type of a graph value.
struct ValueType {
  enum class Kind : uint8_t {
    kRows,      // f32 [rows, columns]
    kIds,       // i32 [rows]: token ids
    kRowIndex,  // i32 [rows]: which rows of another value
    kKvState,   // the layer's cache with this batch's keys and values written: an ordering token without bytes; [layer, kv_heads,
                // head_dim]
    kWeight,    // constant [columns... as stored], any tensor::Format
  };
  Kind kind = Kind::kRows;
  std::vector<Dim> shape;
  tensor::Format format = tensor::Format::kF32;  // kWeight only
  bool operator==(const ValueType&) const = default;
};
// "f32 [T, 576]", "ids [T]", "row_index [R]", "kv [0, 3, 64]", "weight q4_1 [576, 1536]"; and back.
std::string type_text(const ValueType& type);
Result<ValueType> parse_type(std::string_view text);

// How a GEMM's activations are quantised before the dot product: part of the op's meaning, so reference, interpreter and engine
// agree. Blocks of 32 columns of one row share a scale; round to nearest, ties to even; a block of zeros has scale 0.
enum class ActivationType : uint8_t {
  kF32,     // as they are
  kBF16,    // each rounded to bf16, f32 accumulation
  kI8B32,   // scale = amax / 127 in f32, q = round(x / scale), |q| <= 127
  kI16B32,  // scale = amax / 32385 in f32 (32385 = 254 * 127 + 127), q in [-32385, 32385]; kernels may split q = 254 * hi + lo
};
std::string_view activation_name(ActivationType type);  // "f32", "bf16", "i8b32", "i16b32"
Result<ActivationType> parse_activation(std::string_view name);

// y[T, n] = act(x)[T, k] . w[n, k]^T (+ bias[n])
struct GemmDesc {
  int64_t n = 0;
  int64_t k = 0;
  tensor::Format weight = tensor::Format::kF32;
  ActivationType activation = ActivationType::kF32;
  bool bias = false;  // input 2: f32 [n]
  bool operator==(const GemmDesc&) const = default;
};
// y[T, hidden] = table[ids[T]] ; inputs: ids, table weight [vocab, hidden]
struct EmbeddingDesc {
  int64_t vocab = 0;
  int64_t hidden = 0;
  tensor::Format weight = tensor::Format::kF32;
  bool operator==(const EmbeddingDesc&) const = default;
};
// y = x / sqrt(mean(x^2) + eps) * w ; inputs: x, w f32 [hidden]
struct RmsNormDesc {
  int64_t hidden = 0;
  float eps = 1e-5f;
  bool operator==(const RmsNormDesc&) const = default;
};
// (y, sum) = (rms_norm(a + b) * w, a + b) ; inputs: a, b, w
struct AddRmsNormDesc {
  int64_t hidden = 0;
  float eps = 1e-5f;
  bool operator==(const AddRmsNormDesc&) const = default;
};
// y = a + b ; y = a * b ; y = x * sigmoid(x)
struct AddDesc {
  int64_t columns = 0;
  bool operator==(const AddDesc&) const = default;
};
struct MulDesc {
  int64_t columns = 0;
  bool operator==(const MulDesc&) const = default;
};
struct SiluDesc {
  int64_t columns = 0;
  bool operator==(const SiluDesc&) const = default;
};
// y[T, columns] = silu(gate) * up. One input [T, 2 * columns] (gate first) when merged, else two.
struct SwigluDesc {
  int64_t columns = 0;
  bool merged = false;
  bool operator==(const SwigluDesc&) const = default;
};
// y = x[:, begin : begin + columns] ; a view at run time
struct SliceDesc {
  int64_t begin = 0;
  int64_t columns = 0;
  bool operator==(const SliceDesc&) const = default;
};

// Rotary embedding. Pair order: kInterleaved rotates (2i, 2i+1) (GGUF's permuted llama rows), kHalves rotates (i, i + d/2).
struct RopeParams {
  enum class Pairs : uint8_t { kInterleaved, kHalves };
  enum class Scaling : uint8_t { kNone, kLinear, kLlama3, kYarn, kDynamicNtk };
  Pairs pairs = Pairs::kHalves;
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;  // the first rotary_dim of each head turn, the rest passes
  double theta = 10000.0;
  Scaling scaling = Scaling::kNone;
  double factor = 1.0;              // linear, llama3, yarn, dynamic
  double low_freq_factor = 1.0;     // llama3
  double high_freq_factor = 4.0;    // llama3
  int64_t original_context = 0;     // llama3, yarn, dynamic
  double beta_fast = 32.0;          // yarn
  double beta_slow = 1.0;           // yarn
  double attention_factor = 1.0;    // yarn: multiplies cos and sin; resolved by the family
  std::vector<float> freq_factors;  // GGUF rope_freqs: [rotary_dim / 2] divisors; empty: none
  bool operator==(const RopeParams&) const = default;
};
// The inverse frequencies after scaling: [rotary_dim / 2], f64. One definition for every kernel.
std::vector<double> rope_inverse_frequencies(const RopeParams& params);
// out[positions, rotary_dim]: for each position the cosines of its rotary_dim / 2 pairs, then their sines (angles in f64).
void fill_rope_table(const RopeParams& params, int64_t positions, float* out);

// y[T, heads * head_dim] = x turned by each row's position
struct RopeDesc {
  int64_t heads = 0;
  RopeParams rope;
  bool operator==(const RopeDesc&) const = default;
};

// Shape of one layer's part of the cache.
struct KvShape {
  int64_t layer = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  bool operator==(const KvShape&) const = default;
};
// kv = write rows k[T, kv_heads * head_dim], v[same] at each row's position
struct KvWriteDesc {
  KvShape kv;
  bool operator==(const KvWriteDesc&) const = default;
};
// (q[T, heads * head_dim], kv) = rope q and k of the merged rows qkv[T, (heads + 2 * kv_heads) * head_dim], write k and v
struct RopeKvWriteDesc {
  int64_t heads = 0;
  RopeParams rope;
  KvShape kv;
  bool operator==(const RopeKvWriteDesc&) const = default;
};
// y[T, heads * head_dim] = softmax(scale * q . K^T, causal) . V over the sequence's whole cache; inputs: q, kv.
// Named invariant row-invariance: keys are taken in ascending absolute position, split at multiples of kAttentionSplit, partial
// results merged in ascending order, whatever the batch and chunking.
struct AttentionDesc {
  int64_t heads = 0;
  KvShape kv;
  float scale = 1.0f;
  bool operator==(const AttentionDesc&) const = default;
};
inline constexpr int64_t kAttentionSplit = 256;  // tokens

// y[R, columns] = x[row_index[R]]
struct GatherRowsDesc {
  int64_t columns = 0;
  bool operator==(const GatherRowsDesc&) const = default;
};
// w[sum n_i, k] = rows of constants one after the other ; only over constants, folded away
struct ConcatRowsDesc {
  bool operator==(const ConcatRowsDesc&) const = default;
};

using OpDesc = std::variant<EmbeddingDesc, RmsNormDesc, AddRmsNormDesc, GemmDesc, AddDesc, MulDesc, SiluDesc, SwigluDesc, SliceDesc,
                            RopeDesc, KvWriteDesc, RopeKvWriteDesc, AttentionDesc, GatherRowsDesc, ConcatRowsDesc>;

// Same order as OpDesc's alternatives.
enum class OpKind : uint8_t {
  kEmbedding,
  kRmsNorm,
  kAddRmsNorm,
  kGemm,
  kAdd,
  kMul,
  kSilu,
  kSwiglu,
  kSlice,
  kRope,
  kKvWrite,
  kRopeKvWrite,
  kAttention,
  kGatherRows,
  kConcatRows,
};
inline constexpr int kNumOpKinds = static_cast<int>(std::variant_size_v<OpDesc>);
inline OpKind op_kind(const OpDesc& desc) { return static_cast<OpKind>(desc.index()); }
std::string_view op_name(OpKind kind);  // "gemm", "rope_kv_write", ...
Result<OpKind> parse_op(std::string_view name);

// Whether the description itself makes sense: sizes in range, heads that divide, whole blocks. For descriptions out of files.
Status check_desc(const OpDesc& desc);
// Types of the outputs, or what is wrong with the inputs (naming op, input, expected and found).
Result<std::vector<ValueType>> infer_types(const OpDesc& desc, const std::vector<ValueType>& inputs);

// What a step costs for `rows` rows (context: keys a query sees, for attention): multiply-adds counted as two, bytes of weights,
// bytes of everything else.
struct OpCost {
  double flops = 0;
  double weight_bytes = 0;
  double other_bytes = 0;
};
OpCost op_cost(const OpDesc& desc, int64_t rows, int64_t context);

// Text form of a description, "n=576 k=1536 weight=i4b32m activation=i8b32", and back: used by the IR's text, the plan and opcheck.
std::string desc_text(const OpDesc& desc);
Result<OpDesc> parse_desc(OpKind kind, std::string_view text);

// How the cache stores keys and values. A block holds kBlockTokens tokens of every layer:
// [layer][K then V][kv_head][...] with keys [head_dim][kBlockTokens] (kDimMajor) or [kBlockTokens][head_dim], values
// [kBlockTokens][head_dim].
struct KvLayout {
  static constexpr int64_t kBlockTokens = 16;
  enum class KeyOrder : uint8_t { kDimMajor, kTokenMajor };
  tensor::Format format = tensor::Format::kF16;  // kF16 or kF32
  KeyOrder key_order = KeyOrder::kDimMajor;
  int64_t layers = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  bool operator==(const KvLayout&) const = default;

  int64_t element_bytes() const { return format == tensor::Format::kF32 ? 4 : 2; }
  int64_t head_bytes() const { return kBlockTokens * head_dim * element_bytes(); }  // of one head's K or V in one block
  int64_t layer_bytes() const { return 2 * kv_heads * head_bytes(); }
  int64_t block_bytes() const { return layers * layer_bytes(); }
  int64_t key_offset(int64_t layer, int64_t kv_head) const { return layer * layer_bytes() + kv_head * head_bytes(); }
  int64_t value_offset(int64_t layer, int64_t kv_head) const { return layer * layer_bytes() + (kv_heads + kv_head) * head_bytes(); }
};

}  // namespace camshaft::ops
