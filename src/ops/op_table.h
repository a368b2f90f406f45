// What the files of this room share: one entry an op (name, checks, cost), and the checks' sentences. Not a door.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace camshaft::ops {

using Types = std::vector<ValueType>;

// One op: `check` looks at the description alone, `infer` may rely on it.
struct OpInfo {
  std::string_view name;
  Status (*check)(const OpDesc& desc);
  Result<Types> (*infer)(const OpDesc& desc, const Types& inputs);
  OpCost (*cost)(const OpDesc& desc, int64_t rows, int64_t context);
};

// In the order of OpKind. Each is defined in the file of its op.
extern const OpInfo kEmbeddingOp, kRmsNormOp, kAddRmsNormOp, kGemmOp, kAddOp, kMulOp, kSiluOp, kSwigluOp, kSliceOp, kRopeOp,
    kKvWriteOp, kRopeKvWriteOp, kAttentionOp, kGatherRowsOp, kConcatRowsOp;
const OpInfo& op_info(OpKind kind);

// No dimension of a description is larger, so that products of two stay within 64 bits.
inline constexpr int64_t kMaxSize = (int64_t{1} << 31) - 1;

// "gemm: n is 0; 1 to 2147483647 is allowed".
Status check_size(std::string_view op, std::string_view field, int64_t value, int64_t min = 1, int64_t max = kMaxSize);
Status check_kv_shape(std::string_view op, const KvShape& kv);
Status check_rope(std::string_view op, const RopeParams& rope);
Status check_heads(std::string_view op, int64_t heads, const KvShape& kv);
// `elements` of a row in `format` must be whole blocks.
Status check_blocks(std::string_view op, std::string_view field, int64_t elements, tensor::Format format);

// Looks at the inputs one by one; remembers the first thing that is wrong.
class InputChecker {
 public:
  InputChecker(std::string_view op, const Types& inputs, size_t count);
  // Input `index` is f32 rows of `columns`; the first call fixes the row symbol, later ones must agree.
  void rows(size_t index, std::string_view name, int64_t columns);
  void weight(size_t index, std::string_view name, std::vector<int64_t> shape, tensor::Format format);
  void kind(size_t index, std::string_view name, ValueType::Kind kind);
  void exact(size_t index, std::string_view name, const ValueType& expected);
  void fail(size_t index, std::string_view name, std::string_view expected);

  const Status& status() const { return status_; }
  // The outputs when all went well.
  Result<Types> finish(Types outputs) const;
  // f32 [row symbol, columns].
  ValueType rows_of(int64_t columns) const { return {ValueType::Kind::kRows, {row_dim_, Dim::fixed(columns)}}; }
  void set_row_dim(Dim dim) { row_dim_ = dim; }

 private:
  bool present(size_t index) const { return status_.ok() && index < inputs_.size(); }
  std::string_view op_;
  const Types& inputs_;
  Status status_;
  bool rows_known_ = false;
  Dim row_dim_ = Dim::tokens();
};

ValueType kv_state_type(const KvShape& kv);

}  // namespace camshaft::ops
