// Plan values: bucket look-up, JSON for people and tools.
#include "engine/plan.h"

namespace camshaft::engine {

size_t bucket_index(const std::vector<ShapeBucket>& buckets, int64_t rows) {
  size_t index = 0;
  while (index + 1 < buckets.size() && buckets[index].max_rows < rows) ++index;
  return index;
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
