#include "cli/build_engine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/format.h"
#include "base/mapped_file.h"
#include "cli/version.h"

namespace camshaft::cli {

std::vector<base::Option> build_option_table(BuildOptions& o) {
  return {
      {"precision", base::Choice{{"keep", "f32", "bf16", "int8", "int4"}}, "keep", "Weights: as the file has them, or converted.",
       &o.precision},
      {"isa", base::Choice{{"auto", "generic", "avx2", "avx512", "avx512vnni", "avx512bf16"}}, "auto",
       "Instruction set class the engine is bound to; auto is this machine's best.", &o.isa},
      {"kv", base::Choice{{"auto", "f16", "f32"}}, "auto", "Element type of the cache; auto is f32 with precision f32, else f16.",
       &o.kv},
      {"passes", base::Text{"-NAME,..."}, "", "Passes to switch off, each with a minus in front.", &o.passes},
      {"max-rows", base::IntRange{64, 65536}, "1024", "Rows a step at most: the prefill chunk plus a row a sequence.", &o.max_rows},
      {"max-logit-rows", base::IntRange{1, 4096}, "256", "Sequences a step at most.", &o.max_seqs},
      {"build-threads", base::IntRange{0, 1024}, "0", "Threads of the build; 0 is all cores.", &o.threads},
  };
}

int default_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? std::max(1, CPU_COUNT(&set)) : 1;
}

namespace {

// "-a,-b" to {"a", "b"}.
Result<std::vector<std::string>> disabled_passes(const std::string& text) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    if (item.size() < 2 || item[0] != '-') {
      return base::invalid_argument(
          format("--passes: '{}' should be a pass name with '-' in front, for instance -fuse_swiglu", item));
    }
    names.push_back(item.substr(1));
    begin = end + 1;
  }
  return names;
}

}  // namespace

Result<compiler::CompileOptions> resolve_build(const BuildOptions& options) {
  compiler::CompileOptions out;
  CS_ASSIGN_OR_RETURN(out.precision, compiler::parse_precision(options.precision));
  if (options.isa == "auto") {
    out.isa = kernels::detect_isa();
  } else {
    CS_ASSIGN_OR_RETURN(out.isa, kernels::parse_isa(options.isa));
  }
  const bool f32_cache = options.kv == "f32" || (options.kv == "auto" && out.precision == compiler::Precision::kF32);
  out.kv_format = f32_cache ? tensor::Format::kF32 : tensor::Format::kF16;
  out.max_batch_tokens = options.max_rows;
  out.max_logit_rows = options.max_seqs;
  CS_ASSIGN_OR_RETURN(out.disabled_passes, disabled_passes(options.passes));
  out.stop_after = options.stop_after;
  return out;
}

std::string canonical_text(const compiler::CompileOptions& o) {
  std::string passes;
  for (const std::string& name : o.disabled_passes) passes += "-" + name;
  return format("precision={} isa={} kv={} max-rows={} max-logit-rows={} max-workers={} passes={}",
                compiler::precision_name(o.precision), kernels::isa_name(o.isa), tensor::format_info(o.kv_format).name,
                o.max_batch_tokens, o.max_logit_rows, o.max_workers, passes);
}

Result<LoadedGraph> load_graph(const std::filesystem::path& model) {
  LoadedGraph loaded;
  CS_ASSIGN_OR_RETURN(loaded.checkpoint, checkpoint::open_checkpoint(model));
  CS_ASSIGN_OR_RETURN(const models::ModelFamily* family, models::find_family(*loaded.checkpoint));
  CS_ASSIGN_OR_RETURN(loaded.config, family->config(*loaded.checkpoint));
  CS_ASSIGN_OR_RETURN(loaded.graph, family->build(loaded.config, *loaded.checkpoint));
  return loaded;
}

namespace {

int64_t count_parameters(const checkpoint::Checkpoint& checkpoint) {
  int64_t total = 0;
  for (const checkpoint::NamedTensor& tensor : checkpoint.tensors()) total += tensor.view.rows() * tensor.view.columns();
  return total;
}

Result<engine::EngineMeta> make_meta(const LoadedGraph& loaded, const compiler::CompileOptions& options) {
  engine::EngineMeta meta;
  meta.fingerprint.target = "cpu";
  meta.fingerprint.builder_version = kVersion;
  meta.fingerprint.source_hash = loaded.checkpoint->content_hash().to_hex();
  meta.fingerprint.options = canonical_text(options);
  meta.model.name = loaded.checkpoint->name();
  meta.model.family = loaded.config.family;
  meta.model.parameters = count_parameters(*loaded.checkpoint);
  meta.model.layers = loaded.config.layers;
  meta.model.hidden = loaded.config.hidden;
  meta.plan.context_length = loaded.config.context_length;
  CS_ASSIGN_OR_RETURN(meta.tokenizer, loaded.checkpoint->tokenizer());
  CS_ASSIGN_OR_RETURN(meta.prompt, loaded.checkpoint->prompt());
  return meta;
}

// The model, and what lies beside its weights.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& model) {
  std::error_code error;
  std::vector<std::filesystem::path> files = {model};
  const bool folder = std::filesystem::is_directory(model, error);
  if (!folder && model.extension() != ".safetensors") return files;
  const std::filesystem::path beside = folder ? model : model.has_parent_path() ? model.parent_path() : ".";
  for (std::filesystem::directory_iterator entry(beside, error), end; !error && entry != end; entry.increment(error)) {
    files.push_back(entry->path());
  }
  return files;
}

// The model is read until the engine is complete. An engine that lies beside it is built anew.
Status check_output(const std::filesystem::path& model, const std::filesystem::path& output) {
  const auto engine = engine::is_engine_file(output);
  if (!engine.ok() || !*engine) {
    std::error_code ignored;
    for (const std::filesystem::path& file : files_of(model)) {
      if (!std::filesystem::equivalent(file, output, ignored)) continue;
      return base::invalid_argument(
          format("-o {} is {}, which the build reads; name another file", output.native(), file.native()));
    }
  }
  return base::AtomicFileWriter::create(output).status();  // before the work, not after it
}

}  // namespace

Result<BuildSummary> build_engine(const std::filesystem::path& model, const compiler::CompileOptions& options,
                                  const std::filesystem::path& output, int threads, const compiler::Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  BuildSummary summary;
  progress("read", 0);
  CS_ASSIGN_OR_RETURN(LoadedGraph loaded, load_graph(model));
  CS_RETURN_IF_ERROR(check_output(model, output));
  progress("hash", 0);
  CS_ASSIGN_OR_RETURN(engine::EngineMeta meta, make_meta(loaded, options));
  summary.config = loaded.config;
  summary.nodes_before = static_cast<int64_t>(loaded.graph.nodes().size());
  base::ThreadPool pool(threads > 0 ? threads : default_threads(), base::Pinning::kFloat);
  CS_ASSIGN_OR_RETURN(summary.result,
                      compiler::compile(std::move(loaded.graph), std::move(meta), options, output, pool, progress, {}));
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return summary;
}

compiler::Progress progress_bar() {
  if (isatty(STDERR_FILENO) == 0) return [](std::string_view, double) {};
  return [](std::string_view phase, double done) {
    constexpr int kWidth = 30;
    const int filled = static_cast<int>(done * kWidth);
    std::string bar(static_cast<size_t>(filled), '#');
    bar.resize(kWidth, '.');
    std::fprintf(stderr, "\r%-8.*s [%s] %3d%%", static_cast<int>(phase.size()), phase.data(), bar.c_str(),
                 static_cast<int>(done * 100));
    if (phase == "done") std::fputs("\r\033[K", stderr);
  };
}

}  // namespace camshaft::cli
