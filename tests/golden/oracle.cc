// See oracle.h.
#include "oracle.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace camshaft::golden {
namespace {

// Reference files are our own: a member that is not as expected is named, no more.
Result<const Json*> member(const Json& object, std::string_view key) {
  const Json* value = object.find(key);
  if (value == nullptr) return base::data_loss(format("reference: '{}' is missing", key));
  return value;
}

Result<std::vector<int32_t>> id_list(const Json& object, std::string_view key) {
  CS_ASSIGN_OR_RETURN(const Json* list, member(object, key));
  std::vector<int32_t> out;
  if (!list->is_array()) return base::data_loss(format("reference: '{}' is no array", key));
  for (const Json& id : list->as_array()) out.push_back(static_cast<int32_t>(id.as_double()));
  return out;
}

Result<ReferencePrompt> read_prompt(const Json& json) {
  ReferencePrompt out;
  CS_ASSIGN_OR_RETURN(const Json* name, member(json, "name"));
  out.name = name->as_string();
  CS_ASSIGN_OR_RETURN(out.prompt_ids, id_list(json, "prompt_ids"));
  if (out.prompt_ids.empty()) {
    CS_ASSIGN_OR_RETURN(out.prompt_ids, id_list(json, "start_ids_if_empty"));
  }
  CS_ASSIGN_OR_RETURN(const Json* answer, member(json, "hf_f32"));
  CS_ASSIGN_OR_RETURN(out.greedy_ids, id_list(*answer, "greedy_ids"));
  CS_ASSIGN_OR_RETURN(const Json* top, member(*answer, "first_top5"));
  for (const Json& entry : top->as_array()) {
    CS_ASSIGN_OR_RETURN(const Json* id, member(entry, "id"));
    CS_ASSIGN_OR_RETURN(const Json* logit, member(entry, "logit"));
    out.first_top5.emplace_back(static_cast<int32_t>(id->as_double()), logit->as_double());
  }
  return out;
}

}  // namespace

Result<Oracle> open_oracle(const std::filesystem::path& model, const interp::InterpOptions& options) {
  Oracle out;
  CS_ASSIGN_OR_RETURN(out.checkpoint, checkpoint::open_checkpoint(model));
  CS_ASSIGN_OR_RETURN(const models::ModelFamily* family, models::find_family(*out.checkpoint));
  CS_ASSIGN_OR_RETURN(out.config, family->config(*out.checkpoint));
  CS_ASSIGN_OR_RETURN(graph::Graph graph, family->build(out.config, *out.checkpoint));
  out.graph = std::make_unique<graph::Graph>(std::move(graph));
  CS_ASSIGN_OR_RETURN(interp::Interpreter interpreter, interp::Interpreter::make(*out.graph, options));
  out.interpreter = std::make_unique<interp::Interpreter>(std::move(interpreter));
  return out;
}

Result<Greedy> run_greedy(interp::Interpreter& interpreter, const std::vector<int32_t>& prompt, size_t steps) {
  Greedy out;
  interpreter.reset();
  std::vector<int32_t> next = prompt;
  while (out.ids.size() < steps) {
    const int32_t last = static_cast<int32_t>(next.size()) - 1;
    CS_ASSIGN_OR_RETURN(const std::vector<float> logits, interpreter.run(next, {&last, 1}));
    next = {static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin())};
    out.ids.push_back(next[0]);
    if (out.first_logits.empty()) out.first_logits = logits;
  }
  return out;
}

Result<std::vector<ReferencePrompt>> read_reference(const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(const std::string text, base::read_text_file(path, uint64_t{16} << 20));
  CS_ASSIGN_OR_RETURN(const Json json, base::parse_json(text));
  CS_ASSIGN_OR_RETURN(const Json* prompts, member(json, "prompts"));
  std::vector<ReferencePrompt> out;
  for (const Json& prompt : prompts->as_array()) {
    CS_ASSIGN_OR_RETURN(out.emplace_back(), read_prompt(prompt));
  }
  return out;
}

double top5_error(const std::vector<float>& logits, const ReferencePrompt& prompt) {
  double worst = 0;
  for (const auto& [id, logit] : prompt.first_top5) worst = std::max(worst, std::abs(logits[static_cast<size_t>(id)] - logit));
  return worst;
}

std::filesystem::path default_model() { return CAMSHAFT_SOURCE_DIR "/models/SmolLM2-135M-Instruct.Q4_1.gguf"; }
std::filesystem::path default_reference() { return CAMSHAFT_SOURCE_DIR "/../shared/data/smollm2-reference.json"; }
std::filesystem::path golden_folder() { return CAMSHAFT_SOURCE_DIR "/tests/golden"; }

}  // namespace camshaft::golden
