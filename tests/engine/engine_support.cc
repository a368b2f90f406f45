#include "engine_support.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "kernels/isa.h"

namespace camshaft::engine_tests {

TemporaryEngine::TemporaryEngine() {
  static int count = 0;
  path = std::filesystem::temp_directory_path() / format("camshaft_test_{}_{}.engine", static_cast<int64_t>(getpid()), count++);
}
TemporaryEngine::~TemporaryEngine() { std::filesystem::remove(path); }

Result<std::unique_ptr<runtime::PlanRunner>> compile_and_open(const std::filesystem::path& model,
                                                              const compiler::CompileOptions& options,
                                                              const runtime::RunnerOptions& runner) {
  CS_ASSIGN_OR_RETURN(const auto checkpoint, checkpoint::open_checkpoint(model));
  CS_ASSIGN_OR_RETURN(const models::ModelFamily* family, models::find_family(*checkpoint));
  CS_ASSIGN_OR_RETURN(const models::ModelConfig config, family->config(*checkpoint));
  CS_ASSIGN_OR_RETURN(graph::Graph graph, family->build(config, *checkpoint));
  engine::EngineMeta meta;
  meta.fingerprint.target = "cpu";
  meta.plan.context_length = config.context_length;
  const TemporaryEngine file;
  base::ThreadPool pool(2, base::Pinning::kFloat);
  CS_ASSIGN_OR_RETURN(const auto result, compiler::compile(std::move(graph), std::move(meta), options, file.path, pool,
                                                           [](std::string_view, double) {}, {}));
  engine::LoadOptions load;
  load.machine.features = kernels::machine_features();
  load.num_threads = 2;
  CS_ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine, engine::Engine::load(file.path, load));
  return runtime::PlanRunner::make(std::shared_ptr<const engine::Engine>(std::move(engine)), runner);
}

namespace {

std::vector<int32_t> ids_of(const Json& array) {
  std::vector<int32_t> ids;
  for (const Json& item : array.as_array()) ids.push_back(static_cast<int32_t>(*item.int_if()));
  return ids;
}

std::vector<TopLogit> top5_of(const Json& engine) {
  std::vector<TopLogit> top;
  for (const Json& item : engine.find("first_top5")->as_array()) {
    top.push_back({static_cast<int32_t>(*item.find("id")->int_if()), item.find("logit")->as_double()});
  }
  return top;
}

}  // namespace

Result<std::vector<ReferencePrompt>> read_reference(const std::filesystem::path& path) {
  CS_ASSIGN_OR_RETURN(const std::string text, base::read_text_file(path, 64 << 20));
  CS_ASSIGN_OR_RETURN(const Json json, base::parse_json(text));
  std::vector<ReferencePrompt> prompts;
  for (const Json& item : json.find("prompts")->as_array()) {
    const Json& hf = *item.find("hf_f32");
    prompts.push_back({item.find("name")->as_string(), ids_of(*item.find("prompt_ids")), ids_of(*hf.find("greedy_ids")),
                       top5_of(hf), top5_of(*item.find("llamacpp_q4_1"))});
  }
  return prompts;
}

double top_error(const std::vector<TopLogit>& found, const std::vector<TopLogit>& expected) {
  double error = 0;
  for (const TopLogit& want : expected) {
    const auto at = std::ranges::find(found, want.id, &TopLogit::id);
    if (at != found.end()) error = std::max(error, std::abs(at->logit - want.logit));
  }
  return error;
}

double top_error(const std::vector<float>& logits, const std::vector<TopLogit>& expected) {
  double error = 0;
  for (const TopLogit& want : expected) {
    error = std::max(error, std::abs(static_cast<double>(logits[static_cast<size_t>(want.id)]) - want.logit));
  }
  return error;
}

Result<std::vector<int32_t>> run_greedy(runtime::PlanRunner& runner, const std::vector<int32_t>& prompt, size_t steps) {
  runtime::Batch batch;
  runtime::SlotStart start;
  start.sampling.temperature = 0;
  batch.starts.push_back(start);
  runtime::BatchSequence sequence;
  sequence.sample = true;
  sequence.blocks.resize((prompt.size() + steps + 15) / 16);
  for (size_t i = 0; i < sequence.blocks.size(); ++i) sequence.blocks[i] = static_cast<int32_t>(i);
  std::vector<int32_t> ids;
  const auto chunk = static_cast<size_t>(runner.limits().max_batch_tokens);
  for (size_t begin = 0; begin < prompt.size(); begin += chunk) {
    sequence.start_position = static_cast<int32_t>(begin);
    sequence.tokens.assign(prompt.begin() + static_cast<ptrdiff_t>(begin),
                           prompt.begin() + static_cast<ptrdiff_t>(std::min(prompt.size(), begin + chunk)));
    sequence.sample = begin + chunk >= prompt.size();
    batch.sequences = {sequence};
    CS_ASSIGN_OR_RETURN(const runtime::Ticket ticket, runner.submit(batch));
    CS_ASSIGN_OR_RETURN(const auto sampled, runner.wait(ticket));
    batch.starts.clear();
    for (const auto& token : sampled) ids.push_back(token.token);
  }
  while (ids.size() < steps) {
    batch.sequences[0].start_position = static_cast<int32_t>(prompt.size() + ids.size() - 1);
    batch.sequences[0].tokens = {ids.back()};
    CS_ASSIGN_OR_RETURN(const runtime::Ticket ticket, runner.submit(batch));
    CS_ASSIGN_OR_RETURN(const auto sampled, runner.wait(ticket));
    ids.push_back(sampled.at(0).token);
  }
  return ids;
}

std::filesystem::path default_model() {
  return std::filesystem::path(CAMSHAFT_SOURCE_DIR) / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf";
}
std::filesystem::path default_reference() {
  return std::filesystem::path(CAMSHAFT_SOURCE_DIR) / ".." / "shared" / "data" / "smollm2-reference.json";
}

}  // namespace camshaft::engine_tests
