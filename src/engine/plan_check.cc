// Whether a plan that came from a file may be run: every operand of every step is what the op's description wants and lies within
// its memory, so that no kernel ever sees an index, an offset or a size out of range.
#include <algorithm>

#include "base/span_reader.h"
#include "engine/sections.h"

namespace camshaft::engine {
namespace {

using Place = Operand::Place;

constexpr int64_t kElementBytes = 4;
constexpr int64_t kAlignment = 64;

Status bad_plan(std::string_view where, std::string_view what, int64_t value, int64_t limit) {
  return base::data_loss(
      format("section 'plan': {}: {} is {}, allowed is 0 to {}; the file is damaged: build it again", where, what, value, limit));
}

Status bad_step(const Step& step, std::string_view what) {
  return base::data_loss(format("section 'plan': step '{}' ({}): {}; the file is damaged: build it again", step.name,
                                ops::op_name(ops::op_kind(step.desc)), what));
}

// What an op wants of one operand. kConstant with n == 1 is a vector: f32 [k].
struct Expected {
  Place place = Place::kArena;  // kArena: rows, in the arena or (outputs over R) the logits
  int64_t columns = 0;
  int64_t n = 0;
  tensor::Format weight = tensor::Format::kF32;
  bool over_tokens = false;  // T rows whatever the step's own are
};

Expected rows(int64_t columns) { return {Place::kArena, columns}; }
Expected matrix(int64_t n, int64_t k, tensor::Format weight) { return {Place::kConstant, k, n, weight}; }
Expected vector(int64_t size) { return {Place::kConstant, size, 1}; }
Expected without_bytes(Place place) { return {place}; }

struct Signature {
  std::vector<Expected> inputs, outputs;
  enum class Rows { kAny, kTokens, kLogitRows } rows = Rows::kAny;
};

template <typename... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <typename... F>
Overloaded(F...) -> Overloaded<F...>;

constexpr auto kTokens = Signature::Rows::kTokens;

// The operands of a step; nothing for ops that lowering leaves no step of.
Signature signature(const ops::OpDesc& any) {
  const Expected kv = without_bytes(Place::kKvState);
  return std::visit(
      Overloaded{
          [](const ops::EmbeddingDesc& d) -> Signature {
            return {{without_bytes(Place::kIds), matrix(d.vocab, d.hidden, d.weight)}, {rows(d.hidden)}, kTokens};
          },
          [](const ops::RmsNormDesc& d) -> Signature {
            return {{rows(d.hidden), vector(d.hidden)}, {rows(d.hidden)}};
          },
          [](const ops::AddRmsNormDesc& d) -> Signature {
            return {{rows(d.hidden), rows(d.hidden), vector(d.hidden)}, {rows(d.hidden), rows(d.hidden)}};
          },
          [](const ops::GemmDesc& d) -> Signature {
            Signature out{{rows(d.k), matrix(d.n, d.k, d.weight)}, {rows(d.n)}};
            if (d.bias) out.inputs.push_back(vector(d.n));
            return out;
          },
          [](const ops::AddDesc& d) -> Signature {
            return {{rows(d.columns), rows(d.columns)}, {rows(d.columns)}};
          },
          [](const ops::MulDesc& d) -> Signature {
            return {{rows(d.columns), rows(d.columns)}, {rows(d.columns)}};
          },
          [](const ops::SiluDesc& d) -> Signature {
            return {{rows(d.columns)}, {rows(d.columns)}};
          },
          [](const ops::SwigluDesc& d) -> Signature {
            if (d.merged) return {{rows(2 * d.columns)}, {rows(d.columns)}};
            return {{rows(d.columns), rows(d.columns)}, {rows(d.columns)}};
          },
          [](const ops::SliceDesc&) -> Signature { return {}; },
          [](const ops::RopeDesc& d) -> Signature {
            const int64_t columns = d.heads * d.rope.head_dim;
            return {{rows(columns)}, {rows(columns)}, kTokens};
          },
          [&](const ops::KvWriteDesc& d) -> Signature {
            const int64_t columns = d.kv.kv_heads * d.kv.head_dim;
            return {{rows(columns), rows(columns)}, {kv}, kTokens};
          },
          [&](const ops::RopeKvWriteDesc& d) -> Signature {
            return {{rows((d.heads + 2 * d.kv.kv_heads) * d.kv.head_dim)}, {rows(d.heads * d.kv.head_dim), kv}, kTokens};
          },
          [&](const ops::AttentionDesc& d) -> Signature {
            return {{rows(d.heads * d.kv.head_dim), kv}, {rows(d.heads * d.kv.head_dim)}, kTokens};
          },
          [](const ops::GatherRowsDesc& d) -> Signature {
            Expected all = rows(d.columns);
            all.over_tokens = true;
            return {{all, without_bytes(Place::kLogitRows)}, {rows(d.columns)}, Signature::Rows::kLogitRows};
          },
          [](const ops::ConcatRowsDesc&) -> Signature { return {}; },
      },
      any);
}

class StepCheck {
 public:
  StepCheck(const Plan& plan, const Step& step) : plan_(plan), step_(step) {}

  Status run() const {
    if (step_.tactics.size() != plan_.buckets.size()) {
      return bad_plan(step_.name, "number of tactics", static_cast<int64_t>(step_.tactics.size()),
                      static_cast<int64_t>(plan_.buckets.size()));
    }
    if (step_.workspace_offset < 0 || step_.workspace_offset > plan_.arena_bytes || step_.workspace_offset % kAlignment != 0) {
      return bad_plan(step_.name, "workspace offset", step_.workspace_offset, plan_.arena_bytes);
    }
    Status sane = ops::check_desc(step_.desc);
    if (!sane.ok()) return bad_step(step_, sane.message());
    CS_RETURN_IF_ERROR(check_shared());
    const Signature expected = signature(step_.desc);
    if (expected.outputs.empty()) return bad_step(step_, "this op leaves no step");
    const bool over_logits = step_.rows == ops::Symbol::kLogitRows;
    const bool rows_fit =
        step_.rows == ops::Symbol::kTokens ? expected.rows != Signature::Rows::kLogitRows : over_logits && expected.rows != kTokens;
    if (!rows_fit) return bad_step(step_, over_logits ? "it runs over logit rows" : "it runs over tokens");
    CS_RETURN_IF_ERROR(check_all("input", step_.inputs, expected.inputs));
    return check_all("output", step_.outputs, expected.outputs);
  }

 private:
  // What the plan says once for all steps: the cache's shape, the rotary table.
  Status check_shared() const {
    const auto kv_fits = [&](const ops::KvShape& kv) {
      return kv.layer < plan_.kv.layers && kv.kv_heads == plan_.kv.kv_heads && kv.head_dim == plan_.kv.head_dim;
    };
    bool kv_good = true, rope_good = true;
    if (const auto* write = std::get_if<ops::KvWriteDesc>(&step_.desc)) kv_good = kv_fits(write->kv);
    if (const auto* attention = std::get_if<ops::AttentionDesc>(&step_.desc)) kv_good = kv_fits(attention->kv);
    if (const auto* rope = std::get_if<ops::RopeDesc>(&step_.desc)) rope_good = rope->rope == plan_.rope;
    if (const auto* fused = std::get_if<ops::RopeKvWriteDesc>(&step_.desc)) {
      kv_good = kv_fits(fused->kv);
      rope_good = fused->rope == plan_.rope;
    }
    if (!kv_good) return bad_step(step_, "its cache shape is not the plan's");
    return rope_good ? base::ok_status() : bad_step(step_, "its rotary parameters are not the plan's");
  }

  Status check_all(std::string_view what, const std::vector<Operand>& found, const std::vector<Expected>& expected) const {
    if (found.size() != expected.size()) {
      return bad_step(step_, format("{} {}s, expected {}", found.size(), what, expected.size()));
    }
    for (size_t i = 0; i < found.size(); ++i) CS_RETURN_IF_ERROR(check_operand(format("{} {}", what, i), found[i], expected[i]));
    return base::ok_status();
  }

  Status check_operand(const std::string& what, const Operand& operand, const Expected& expected) const {
    if (operand.place == Place::kLogits && expected.place == Place::kArena) {
      const bool fits = step_.rows == ops::Symbol::kLogitRows && !expected.over_tokens && expected.columns == plan_.vocab;
      return fits ? base::ok_status() : bad_step(step_, format("{} is the logits of {} columns", what, plan_.vocab));
    }
    if (operand.place != expected.place) return bad_step(step_, format("{} lies in another place than the op reads", what));
    if (operand.place == Place::kConstant) return check_constant(what, operand.constant, expected);
    return operand.place == Place::kArena ? check_arena(what, operand, expected) : base::ok_status();
  }

  Status check_constant(const std::string& what, int32_t index, const Expected& expected) const {
    const auto count = static_cast<int64_t>(plan_.constants.size());
    if (index < 0 || index >= count) return bad_plan(step_.name, "constant", index, count - 1);
    const ConstantEntry& entry = plan_.constants[static_cast<size_t>(index)];
    const bool shaped = entry.format == expected.weight && entry.n == expected.n && entry.k == expected.columns;
    const bool filled = expected.n > 1 || entry.bytes >= static_cast<uint64_t>(kElementBytes * entry.k);
    if (shaped && filled) return base::ok_status();
    return bad_step(step_, format("{} is constant '{}' {} [{}, {}] of {} bytes, expected {} [{}, {}]", what, entry.name,
                                  tensor::format_info(entry.format).name, entry.n, entry.k, entry.bytes,
                                  tensor::format_info(expected.weight).name, expected.n, expected.columns));
  }

  // Rows at offset + row * stride, each `columns` long: the last one ends inside the arena.
  Status check_arena(const std::string& what, const Operand& operand, const Expected& expected) const {
    const bool over_tokens = step_.rows == ops::Symbol::kTokens || expected.over_tokens;
    const int64_t count = over_tokens ? plan_.max_batch_tokens : plan_.max_logit_rows;
    uint64_t bytes = 0, end = 0;
    const bool good = operand.offset >= 0 && operand.offset % kElementBytes == 0 && operand.stride >= expected.columns &&
                      base::checked_mul(static_cast<uint64_t>(operand.stride), static_cast<uint64_t>(count - 1), &bytes) &&
                      base::checked_add(bytes, static_cast<uint64_t>(expected.columns), &bytes) &&
                      base::checked_mul(bytes, uint64_t{kElementBytes}, &bytes) &&
                      base::checked_add(static_cast<uint64_t>(operand.offset), bytes, &end) &&
                      end <= static_cast<uint64_t>(plan_.arena_bytes);
    if (good) return base::ok_status();
    return bad_step(step_, format("{}: {} rows of {} columns, stride {}, at byte {} pass the arena of {} bytes", what, count,
                                  expected.columns, operand.stride, operand.offset, plan_.arena_bytes));
  }

  const Plan& plan_;
  const Step& step_;
};

Status check_entry(const ConstantEntry& entry, uint64_t constants_bytes) {
  uint64_t end = 0;
  const bool shaped = entry.n > 0 && entry.k > 0 && entry.n <= INT32_MAX && entry.k <= INT32_MAX;
  if (!shaped || entry.offset % kAlignment != 0 || !base::checked_add(entry.offset, entry.bytes, &end) || end > constants_bytes) {
    return base::data_loss(
        format("section 'plan': constant '{}' [{}, {}] lies at byte {} and ends at {}, section 'constants' has {}; the file is "
               "damaged: build it again",
               entry.name, entry.n, entry.k, entry.offset, end, constants_bytes));
  }
  return base::ok_status();
}

Status check_sizes(const Plan& plan) {
  constexpr int64_t kMaxArena = int64_t{1} << 40;
  constexpr int64_t kMaxRows = 1 << 20;
  const struct {
    std::string_view name;
    int64_t value, limit;
  } sizes[] = {{"arena_bytes", plan.arena_bytes, kMaxArena},
               {"max_batch_tokens", plan.max_batch_tokens, kMaxRows},
               {"max_logit_rows", plan.max_logit_rows, kMaxRows},
               {"max_workers", plan.max_workers, 4096},
               {"vocab", plan.vocab, 16 << 20},
               {"context_length", plan.context_length, int64_t{1} << 30},
               {"kv layers", plan.kv.layers, 4096},
               {"kv heads", plan.kv.kv_heads, 4096},
               {"kv head_dim", plan.kv.head_dim, 4096}};
  for (const auto& size : sizes) {
    if (size.value < 1 || size.value > size.limit) return bad_plan("plan", size.name, size.value, size.limit);
  }
  return base::ok_status();
}

// Ascending, and the last one serves every step.
Status check_buckets(const Plan& plan) {
  int64_t before = 0;
  for (const ShapeBucket& bucket : plan.buckets) {
    if (bucket.max_rows <= before) return bad_plan("plan", "bucket", bucket.max_rows, plan.max_batch_tokens);
    before = bucket.max_rows;
  }
  return before == plan.max_batch_tokens ? base::ok_status() : bad_plan("plan", "last bucket", before, plan.max_batch_tokens);
}

// rotary_dim 0: no step turns anything.
Status check_cache(const Plan& plan) {
  if (plan.kv.format != tensor::Format::kF16 && plan.kv.format != tensor::Format::kF32) {
    return base::data_loss(
        format("section 'plan': the cache format is {}, allowed are f16 and f32; the file is damaged: build it "
               "again",
               tensor::format_info(plan.kv.format).name));
  }
  if (plan.rope.rotary_dim == 0) return base::ok_status();
  Status sane = ops::check_desc(ops::RopeDesc{1, plan.rope});
  if (!sane.ok()) return base::data_loss(format("section 'plan': {}; the file is damaged: build it again", sane.message()));
  if (plan.rope.head_dim == plan.kv.head_dim) return base::ok_status();
  return bad_plan("plan", "rope head_dim", plan.rope.head_dim, plan.kv.head_dim);
}

}  // namespace

Status check_plan(const Plan& plan, uint64_t constants_bytes) {
  CS_RETURN_IF_ERROR(check_sizes(plan));
  CS_RETURN_IF_ERROR(check_buckets(plan));
  CS_RETURN_IF_ERROR(check_cache(plan));
  for (const ConstantEntry& entry : plan.constants) CS_RETURN_IF_ERROR(check_entry(entry, constants_bytes));
  for (const Step& step : plan.steps) CS_RETURN_IF_ERROR(StepCheck(plan, step).run());
  return base::ok_status();
}

}  // namespace camshaft::engine
