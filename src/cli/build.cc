// camshaft build MODEL -o FILE
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "base/format.h"
#include "cli/build_engine.h"
#include "cli/commands.h"
#include "cli/interrupts.h"
#include "graph/graph.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  std::string output;
  std::string print;
  BuildOptions build;
};

CommandSpec spec(State& s) {
  CommandSpec out{"build", "Compiles a checkpoint into an engine file bound to a target.", {}, {}};
  out.positionals.push_back({"MODEL", "A GGUF file, or a folder with config.json and safetensors files.", true, &s.model});
  out.options = build_option_table(s.build);
  out.options.insert(out.options.begin(),
                     {"o", base::Text{"FILE"}, "", "The engine file to write; default MODEL's name with .engine.", &s.output});
  out.options.push_back({"print", base::Choice{{"nothing", "ir", "plan"}}, "nothing",
                         "Prints the graph after the passes, or the plan, and writes no engine.", &s.print});
  out.options.push_back({"stop-after", base::Text{"PASS"}, "", "Stops after this pass; with --print ir.", &s.build.stop_after});
  return out;
}

std::string default_output(const std::string& model) {
  std::filesystem::path path(model);
  if (!path.has_filename()) path = path.parent_path();
  return path.stem().string() + ".engine";
}

int print_stage(const State& s, const compiler::CompileOptions& options) {
  auto loaded = load_graph(s.model);
  if (!loaded.ok()) return report_failure("build", loaded.status(), FailedThing::kCheckpoint);
  auto reports = compiler::run_passes(loaded->graph, options);
  if (!reports.ok()) return report_failure("build", reports.status(), FailedThing::kCheckpoint);
  if (s.print == "ir") {
    std::fputs(graph::print(loaded->graph).c_str(), stdout);
    return 0;
  }
  auto plan = compiler::lower(loaded->graph, *reports, options);
  if (!plan.ok()) return report_failure("build", plan.status(), FailedThing::kCheckpoint);
  std::puts(engine::plan_to_json(*plan).dump_pretty(1).c_str());
  return 0;
}

void print_summary(const State& s, const BuildSummary& summary) {
  const engine::EngineMeta& meta = summary.result.meta;
  std::printf("%s: %s, %.1f M parameters, %lld layers, precision %s, ISA class %s\n", s.output.c_str(), meta.model.name.c_str(),
              static_cast<double>(meta.model.parameters) / 1e6, static_cast<long long>(meta.model.layers),
              meta.model.precision.c_str(), meta.fingerprint.isa.c_str());
  for (const compiler::PassReport& pass : summary.result.passes) {
    std::printf("  %-20s %5lld changes  %7.2f ms%s\n", pass.name.c_str(), static_cast<long long>(pass.changes), pass.seconds * 1e3,
                pass.enabled ? "" : "  (off)");
  }
  std::printf("  kernels a step: %lld before, %lld after; %.1f MB; %.2f s\n", static_cast<long long>(summary.nodes_before),
              static_cast<long long>(meta.plan.steps.size()), static_cast<double>(summary.result.file_bytes) / 1e6,
              summary.seconds);
}

// What base::AtomicFileWriter has begun.
[[noreturn]] void remove_unfinished(const std::string& output) {
  unlink(format("{}.tmp.{}", output, getpid()).c_str());
  _exit(kInterrupted);
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("build", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  const auto options = resolve_build(s.build);
  if (!options.ok()) return report_failure("build", options.status(), FailedThing::kUsage);
  if (!s.build.stop_after.empty() && s.print == "nothing") s.print = "ir";
  if (!s.build.stop_after.empty() && s.print == "plan") {
    return report_failure(
        "build", base::invalid_argument(format("--stop-after {}: a plan needs all passes; take --print ir", s.build.stop_after)),
        FailedThing::kUsage);
  }
  if (s.print != "nothing") return print_stage(s, *options);
  if (s.output.empty()) s.output = default_output(s.model);
  Interrupts interrupts({SIGTERM, SIGINT});
  interrupts.on_next([&s] { remove_unfinished(s.output); });
  const auto summary = build_engine(s.model, *options, s.output, static_cast<int>(s.build.threads), progress_bar());
  if (!summary.ok()) return report_failure("build", summary.status(), FailedThing::kCheckpoint);
  print_summary(s, *summary);
  return 0;
}

}  // namespace

const Command& build_command() {
  static const Command command = {"build", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
