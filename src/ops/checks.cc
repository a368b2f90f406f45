// The checks that ops share: sizes of descriptions, and types of inputs against what the description expects.
#include <utility>

#include "base/format.h"
#include "ops/op_table.h"

namespace camshaft::ops {

Status check_size(std::string_view op, std::string_view field, int64_t value, int64_t min, int64_t max) {
  if (value >= min && value <= max) return base::ok_status();
  return base::invalid_argument(format("{}: {} is {}; {} to {} is allowed", op, field, value, min, max));
}

Status check_kv_shape(std::string_view op, const KvShape& kv) {
  CS_RETURN_IF_ERROR(check_size(op, "layer", kv.layer, 0, 65535));
  CS_RETURN_IF_ERROR(check_size(op, "kv_heads", kv.kv_heads, 1, 65535));
  return check_size(op, "head_dim", kv.head_dim, 1, 4096);
}

Status check_heads(std::string_view op, int64_t heads, const KvShape& kv) {
  CS_RETURN_IF_ERROR(check_size(op, "heads", heads, 1, 65535));
  CS_RETURN_IF_ERROR(check_kv_shape(op, kv));
  if (heads % kv.kv_heads == 0) return base::ok_status();
  return base::invalid_argument(format("{}: heads={} is not a multiple of kv_heads={}", op, heads, kv.kv_heads));
}

namespace {

Status check_rope_scaling(std::string_view op, const RopeParams& rope) {
  using Scaling = RopeParams::Scaling;
  if (rope.scaling < Scaling::kLlama3) return base::ok_status();
  CS_RETURN_IF_ERROR(check_size(op, "original_context", rope.original_context));
  if (rope.scaling == Scaling::kLlama3 && !(rope.low_freq_factor > 0 && rope.high_freq_factor > rope.low_freq_factor)) {
    return base::invalid_argument(format("{}: low_freq_factor={} and high_freq_factor={}; expected 0 < low < high", op,
                                         rope.low_freq_factor, rope.high_freq_factor));
  }
  if (rope.scaling == Scaling::kYarn && !(rope.theta > 1 && rope.beta_slow > 0 && rope.beta_fast >= rope.beta_slow)) {
    return base::invalid_argument(
        format("{}: theta={} beta_fast={} beta_slow={}; expected theta > 1 and beta_fast >= beta_slow > 0", op, rope.theta,
               rope.beta_fast, rope.beta_slow));
  }
  return base::ok_status();
}

}  // namespace

Status check_rope(std::string_view op, const RopeParams& rope) {
  CS_RETURN_IF_ERROR(check_size(op, "head_dim", rope.head_dim, 1, 4096));
  CS_RETURN_IF_ERROR(check_size(op, "rotary_dim", rope.rotary_dim, 2, rope.head_dim));
  if (rope.rotary_dim % 2 != 0)
    return base::invalid_argument(format("{}: rotary_dim={} is odd; pairs turn together", op, rope.rotary_dim));
  if (!(rope.theta > 0)) return base::invalid_argument(format("{}: theta={} is not positive", op, rope.theta));
  if (!(rope.factor > 0)) return base::invalid_argument(format("{}: factor={} is not positive", op, rope.factor));
  const auto pairs = static_cast<size_t>(rope.rotary_dim / 2);
  if (!rope.freq_factors.empty() && rope.freq_factors.size() != pairs) {
    return base::invalid_argument(format("{}: {} freq_factors for {} pairs", op, rope.freq_factors.size(), pairs));
  }
  for (const float factor : rope.freq_factors) {
    if (!(factor > 0)) return base::invalid_argument(format("{}: freq_factors has {}; only positive values divide", op, factor));
  }
  return check_rope_scaling(op, rope);
}

Status check_blocks(std::string_view op, std::string_view field, int64_t elements, tensor::Format weight) {
  const tensor::FormatInfo& info = tensor::format_info(weight);
  if (elements % info.block_elements == 0) return base::ok_status();
  return base::invalid_argument(format("{}: {}={} is not a multiple of the {} elements in a block of {}", op, field, elements,
                                       info.block_elements, info.name));
}

InputChecker::InputChecker(std::string_view op, const Types& inputs, size_t count) : op_(op), inputs_(inputs) {
  if (inputs.size() != count) status_ = base::invalid_argument(format("{}: {} inputs, expected {}", op, inputs.size(), count));
}

void InputChecker::fail(size_t index, std::string_view name, std::string_view expected) {
  if (!present(index)) return;
  status_ =
      base::invalid_argument(format("{}: input {} ({}) is {}, expected {}", op_, index, name, type_text(inputs_[index]), expected));
}

void InputChecker::rows(size_t index, std::string_view name, int64_t columns) {
  if (!present(index)) return;
  const ValueType& found = inputs_[index];
  const bool shaped = found.kind == ValueType::Kind::kRows && found.shape.size() == 2 && found.shape[0].symbol != Symbol::kNone;
  if (shaped && !std::exchange(rows_known_, true)) row_dim_ = found.shape[0];
  if (!shaped || found != rows_of(columns)) fail(index, name, type_text(rows_of(columns)));
}

void InputChecker::exact(size_t index, std::string_view name, const ValueType& expected) {
  if (present(index) && inputs_[index] != expected) fail(index, name, type_text(expected));
}

void InputChecker::weight(size_t index, std::string_view name, std::vector<int64_t> shape, tensor::Format weight_format) {
  ValueType expected{ValueType::Kind::kWeight, {}, weight_format};
  for (const int64_t size : shape) expected.shape.push_back(Dim::fixed(size));
  exact(index, name, expected);
}

void InputChecker::kind(size_t index, std::string_view name, ValueType::Kind kind) {
  if (!present(index)) return;
  const ValueType& found = inputs_[index];
  const bool good = found.kind == kind && found.shape.size() == 1 && found.shape[0].symbol != Symbol::kNone;
  if (!good) fail(index, name, kind == ValueType::Kind::kIds ? "ids [T]" : "row_index [R]");
}

Result<Types> InputChecker::finish(Types outputs) const {
  if (!status_.ok()) return status_;
  return outputs;
}

ValueType kv_state_type(const KvShape& kv) {
  return {ValueType::Kind::kKvState, {Dim::fixed(kv.layer), Dim::fixed(kv.kv_heads), Dim::fixed(kv.head_dim)}};
}

}  // namespace camshaft::ops
