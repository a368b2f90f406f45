// Plan values: bucket look-up, consistency of a plan that came from a file, JSON for people and tools.
#include "engine/plan.h"

#include <algorithm>
#include <limits>

#include "base/span_reader.h"
#include "engine/sections.h"

namespace camshaft::engine {

size_t bucket_index(const std::vector<ShapeBucket>& buckets, int64_t rows) {
  size_t index = 0;
  while (index + 1 < buckets.size() && buckets[index].max_rows < rows) ++index;
  return index;
}

namespace {

Status bad_plan(std::string_view where, std::string_view what, int64_t value, int64_t limit) {
  return base::data_loss(
      format("section 'plan': {}: {} is {}, allowed is 0 to {}; the file is damaged: build it again", where, what, value, limit));
}

Status check_operand(const Step& step, const Operand& operand, const Plan& plan) {
  if (operand.place == Operand::Place::kConstant) {
    const auto count = static_cast<int64_t>(plan.constants.size());
    if (operand.constant < 0 || operand.constant >= count) return bad_plan(step.name, "constant", operand.constant, count - 1);
    return base::ok_status();
  }
  if (operand.place != Operand::Place::kArena) return base::ok_status();
  const int64_t rows = step.rows == ops::Symbol::kLogitRows ? plan.max_logit_rows : plan.max_batch_tokens;
  uint64_t bytes = 0, end = 0;
  if (operand.offset < 0 || operand.stride < 0 || operand.offset % 4 != 0 ||
      !base::checked_mul(static_cast<uint64_t>(operand.stride) * 4, static_cast<uint64_t>(rows), &bytes) ||
      !base::checked_add(static_cast<uint64_t>(operand.offset), 4, &end) || end > static_cast<uint64_t>(plan.arena_bytes)) {
    return bad_plan(step.name, "arena offset", operand.offset, plan.arena_bytes);
  }
  return base::ok_status();
}

Status check_step(const Step& step, const Plan& plan) {
  if (step.tactics.size() != plan.buckets.size()) {
    return bad_plan(step.name, "number of tactics", static_cast<int64_t>(step.tactics.size()),
                    static_cast<int64_t>(plan.buckets.size()));
  }
  if (step.workspace_offset < 0 || step.workspace_offset > plan.arena_bytes) {
    return bad_plan(step.name, "workspace offset", step.workspace_offset, plan.arena_bytes);
  }
  for (const Operand& operand : step.inputs) CS_RETURN_IF_ERROR(check_operand(step, operand, plan));
  for (const Operand& operand : step.outputs) CS_RETURN_IF_ERROR(check_operand(step, operand, plan));
  return base::ok_status();
}

Status check_constant(const ConstantEntry& entry, uint64_t constants_bytes) {
  uint64_t end = 0;
  const bool known = std::ranges::any_of(tensor::all_formats(), [&](const auto& info) { return info.format == entry.format; });
  if (!known || entry.n <= 0 || entry.k <= 0 || entry.offset % 64 != 0 || !base::checked_add(entry.offset, entry.bytes, &end) ||
      end > constants_bytes) {
    return base::data_loss(
        format("section 'plan': constant '{}' ends at byte {}, section 'constants' has {}; the file is damaged: build it again",
               entry.name, end, constants_bytes));
  }
  return base::ok_status();
}

}  // namespace

Status check_plan(const Plan& plan, uint64_t constants_bytes) {
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
  if (plan.buckets.empty() || plan.buckets.back().max_rows != plan.max_batch_tokens) {
    return bad_plan("plan", "buckets", static_cast<int64_t>(plan.buckets.size()), kMaxRows);
  }
  for (const ConstantEntry& entry : plan.constants) CS_RETURN_IF_ERROR(check_constant(entry, constants_bytes));
  for (const Step& step : plan.steps) CS_RETURN_IF_ERROR(check_step(step, plan));
  return base::ok_status();
}

namespace {

std::string_view place_name(Operand::Place place) {
  constexpr std::string_view kNames[] = {"arena", "constant", "ids", "logit_rows", "logits", "kv_state"};
  return kNames[static_cast<size_t>(place)];
}

Json operand_json(const Operand& operand, const Plan& plan) {
  Json json;
  json.set("place", place_name(operand.place));
  if (operand.place == Operand::Place::kArena) {
    json.set("offset", operand.offset);
    json.set("stride", operand.stride);
  } else if (operand.place == Operand::Place::kConstant) {
    json.set("constant", plan.constants[static_cast<size_t>(operand.constant)].name);
  }
  return json;
}

Json operands_json(const std::vector<Operand>& operands, const Plan& plan) {
  base::JsonArray array;
  for (const Operand& operand : operands) array.push_back(operand_json(operand, plan));
  return array;
}

Json step_json(const Step& step, const Plan& plan) {
  Json json;
  json.set("name", step.name);
  json.set("op", ops::op_name(ops::op_kind(step.desc)));
  json.set("desc", ops::desc_text(step.desc));
  json.set("rows", step.rows == ops::Symbol::kLogitRows ? "R" : "T");
  json.set("kernel", step.kernel);
  base::JsonArray tactics;
  for (int32_t tactic : step.tactics) tactics.push_back(Json(static_cast<int64_t>(tactic)));
  json.set("tactics", std::move(tactics));
  json.set("inputs", operands_json(step.inputs, plan));
  json.set("outputs", operands_json(step.outputs, plan));
  json.set("workspace_offset", step.workspace_offset);
  json.set("note", step.note);
  Json refused = base::JsonObject{};
  for (const auto& [kernel, reason] : step.refused) refused.set(kernel, reason);
  json.set("refused", std::move(refused));
  return json;
}

Json constant_json(const ConstantEntry& entry) {
  Json json;
  json.set("name", entry.name);
  json.set("layout", entry.layout);
  json.set("format", tensor::format_info(entry.format).name);
  json.set("n", entry.n);
  json.set("k", entry.k);
  json.set("bytes", entry.bytes);
  return json;
}

Json pass_json(const PassRecord& pass) {
  Json json;
  json.set("name", pass.name);
  json.set("enabled", pass.enabled);
  json.set("changes", pass.changes);
  json.set("nodes_after", pass.nodes_after);
  return json;
}

template <typename T, typename F>
Json array_json(const std::vector<T>& values, F&& to_json) {
  base::JsonArray array;
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

}  // namespace

Json plan_to_json(const Plan& plan) {
  Json json;
  json.set("buckets", array_json(plan.buckets, [](const ShapeBucket& b) { return Json(b.max_rows); }));
  json.set("arena_bytes", plan.arena_bytes);
  json.set("max_batch_tokens", plan.max_batch_tokens);
  json.set("max_logit_rows", plan.max_logit_rows);
  json.set("vocab", plan.vocab);
  json.set("context_length", plan.context_length);
  json.set("kv_format", tensor::format_info(plan.kv.format).name);
  json.set("kv_block_bytes", plan.kv.block_bytes());
  json.set("passes", array_json(plan.passes, pass_json));
  json.set("constants", array_json(plan.constants, constant_json));
  json.set("steps", array_json(plan.steps, [&](const Step& step) { return step_json(step, plan); }));
  return json;
}

}  // namespace camshaft::engine
