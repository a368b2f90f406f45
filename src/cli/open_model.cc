#include "cli/open_model.h"

#include <ctime>

#include "base/format.h"
#include "cli/engine_cache.h"
#include "cli/model_id.h"
#include "cli/vocabulary.h"
#include "executor/batching_executor.h"

namespace camshaft::cli {

std::vector<base::Option> model_option_table(ModelOptions& o, std::string max_seqs_default) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 50;
  std::vector<base::Option> table = {
      {"weights", base::Choice{{"copy", "mmap"}}, "copy", "Weights in memory of their own, or mapped from the file.", &o.weights},
      {"max-seqs", base::IntRange{1, 4096}, std::move(max_seqs_default), "Sequences computed together.", &o.max_seqs},
      {"max-seq-len", base::IntRange{0, 1 << 24}, "0", "Tokens of prompt and output of a sequence; 0 is the model's context.",
       &o.max_seq_len},
      {"prefill-chunk", base::IntRange{1, 65536}, "512", "Prompt tokens computed in one step.", &o.prefill_chunk},
      {"kv-memory", base::ByteRange{0, kMaxBytes}, "0",
       "Bytes of the cache; 0 is what max-seqs needs, at most a quarter of memory.", &o.kv_memory},
      {"threads", base::IntRange{0, 1024}, "0", "Compute threads; 0 is all cores.", &o.threads},
      {"cache", base::Text{"FOLDER"}, "", "Where engines built from checkpoints are kept.", &o.cache},
  };
  for (base::Option& option : build_option_table(o.build)) table.push_back(std::move(option));
  return table;
}

namespace {

std::string value_of(const base::Option& option) {
  return std::visit([](const auto* value) { return format("{}", *value); }, option.target);
}

Status refuse_build_options(const std::string& model, const ModelOptions& options) {
  BuildOptions asked = options.build;
  for (const base::Option& option : build_option_table(asked)) {
    if (!options.given.contains(option.name)) continue;
    return base::invalid_argument(format("--{} {}: '{}' is an engine, which is already built; build again from the checkpoint",
                                         option.name, value_of(option), model));
  }
  return base::ok_status();
}

}  // namespace

Result<std::shared_ptr<const engine::Engine>> open_engine(const std::string& model, const ModelOptions& options) {
  engine::LoadOptions load;
  load.machine.features = kernels::machine_features();
  load.weights = options.weights == "mmap" ? engine::WeightsMode::kMmap : engine::WeightsMode::kCopy;
  load.num_threads = options.threads > 0 ? static_cast<int>(options.threads) : default_threads();
  const std::filesystem::path folder = options.cache.empty() ? default_cache_folder() : std::filesystem::path(options.cache);
  CS_ASSIGN_OR_RETURN(const bool is_engine, names_engine(model));
  if (is_engine) {
    CS_RETURN_IF_ERROR(refuse_build_options(model, options));
  }
  auto engine = is_engine ? engine::Engine::load(model, load) : load_cached_engine(model, options.build, folder, load);
  if (!engine.ok()) return std::move(engine).status();
  return std::shared_ptr<const engine::Engine>(std::move(*engine));
}

Result<std::unique_ptr<runtime::PlanRunner>> open_runner(std::shared_ptr<const engine::Engine> engine,
                                                         const ModelOptions& options) {
  runtime::RunnerOptions runner;
  runner.max_seqs = static_cast<int32_t>(options.max_seqs);
  runner.max_seq_len = static_cast<int32_t>(options.max_seq_len);
  runner.prefill_chunk = static_cast<int32_t>(options.prefill_chunk);
  runner.kv_memory_bytes = options.kv_memory;
  runner.num_threads = static_cast<int>(options.threads);
  auto made = runtime::PlanRunner::make(std::move(engine), runner);
  // The user's number is at fault, not the engine.
  if (!made.ok() && made.status().code() == Code::kResourceExhausted && options.kv_memory > 0) {
    return base::invalid_argument(made.status().message());
  }
  return made;
}

namespace {

Status fill_text(const engine::EngineMeta& meta, generation::ModelEntry& entry) {
  entry.prompt = meta.prompt;
  if (meta.tokenizer.tokens.empty()) {
    return base::failed_precondition("the checkpoint had no vocabulary, so there is no text to serve; build from one that has");
  }
  CS_ASSIGN_OR_RETURN(text::Tokenizer tokenizer, text::Tokenizer::make(meta.tokenizer));
  entry.tokenizer = std::make_unique<text::Tokenizer>(std::move(tokenizer));
  if (meta.prompt.chat_template.empty()) return base::ok_status();
  auto parsed = text::ChatTemplate::parse(meta.prompt.chat_template);
  if (!parsed.ok()) return std::move(parsed).status().with_context("chat template");
  entry.chat_template = std::make_unique<text::ChatTemplate>(std::move(*parsed));
  return base::ok_status();
}

}  // namespace

Result<std::unique_ptr<RunningModel>> open_model(const std::string& model, const ModelOptions& options, const std::string& name,
                                                 base::MetricsRegistry& metrics) {
  auto running = std::make_unique<RunningModel>();
  CS_ASSIGN_OR_RETURN(running->engine, open_engine(model, options));
  const engine::EngineMeta& meta = running->engine->meta();
  const std::string stem = std::filesystem::path(model).stem();
  running->entry.name = !name.empty() ? name : model_id_of(meta.model.name.empty() ? stem : meta.model.name);
  running->entry.created_unix = std::time(nullptr);
  CS_RETURN_IF_ERROR(fill_text(meta, running->entry));
  CS_ASSIGN_OR_RETURN(auto runner, open_runner(running->engine, options));
  executor::ExecutorOptions executor;
  executor.prefill_chunk = static_cast<int32_t>(options.prefill_chunk);
  executor.step_timeout_s = options.step_timeout_s;
  executor.model_name = running->entry.name;
  CS_ASSIGN_OR_RETURN(running->entry.executor,
                      executor::start_executor(std::move(runner), executor, base::steady_clock(), metrics));
  return running;
}

}  // namespace camshaft::cli
