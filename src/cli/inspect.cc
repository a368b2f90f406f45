// camshaft inspect ENGINE: what was built, from what, for what, and why each kernel was taken.
#include <cstdio>
#include <map>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/open_model.h"
#include "kernels/kernel.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  bool json = false;
  bool why = false;
};

CommandSpec spec(State& s) {
  CommandSpec out{"inspect", "Shows an engine: target, passes, plan, constants.", {}, {}};
  out.positionals.push_back({"ENGINE", "An engine file; it need not be for this machine.", true, &s.model});
  out.options = {
      {"json", base::Flag{}, "", "Prints everything as JSON.", &s.json},
      {"why", base::Flag{}, "", "Says for each step why its kernel was taken and the others were not.", &s.why},
  };
  return out;
}

Json info_json(const engine::Engine& engine) {
  const engine::EngineMeta& meta = engine.meta();
  Json json;
  json.set("name", meta.model.name);
  json.set("family", meta.model.family);
  json.set("precision", meta.model.precision);
  json.set("parameters", meta.model.parameters);
  json.set("layers", meta.model.layers);
  json.set("hidden", meta.model.hidden);
  json.set("file_bytes", engine.file_bytes());
  json.set("target", meta.fingerprint.target);
  json.set("isa", meta.fingerprint.isa);
  base::JsonArray features;
  for (const std::string& feature : meta.fingerprint.features) features.push_back(feature);
  json.set("features", std::move(features));
  json.set("builder_version", meta.fingerprint.builder_version);
  json.set("source_hash", meta.fingerprint.source_hash);
  json.set("options", meta.fingerprint.options);
  json.set("vocabulary", static_cast<int64_t>(meta.tokenizer.tokens.size()));
  json.set("chat_template", !meta.prompt.chat_template.empty());
  json.set("plan", engine::plan_to_json(meta.plan));
  return json;
}

void print_step(const engine::Step& step, bool why) {
  const auto kind = ops::op_kind(step.desc);
  std::printf("  %-28s %-14s %-36s %s\n", step.name.c_str(), std::string(ops::op_name(kind)).c_str(), step.kernel.c_str(),
              ops::desc_text(step.desc).c_str());
  if (!why) return;
  if (!step.note.empty()) std::printf("      passes: %s\n", step.note.c_str());
  for (const auto& [kernel, reason] : step.refused) std::printf("      not %s: %s\n", kernel.c_str(), reason.c_str());
  std::printf("      taken: first in the list of %s kernels that supports it\n", std::string(ops::op_name(kind)).c_str());
  bool after = false;
  for (const kernels::KernelInfo& kernel : kernels::kernel_list(device::DeviceKind::kCpu, kind)) {
    if (after) std::printf("      not %s: stands behind it in the list\n", std::string(kernel.name).c_str());
    after = after || kernel.name == step.kernel;
  }
}

void print_tables(const engine::Engine& engine, bool why) {
  const engine::EngineMeta& meta = engine.meta();
  const engine::Plan& plan = meta.plan;
  std::printf("%s: %s, %.1f M parameters, %lld layers, precision %s\n", meta.model.name.c_str(), meta.model.family.c_str(),
              static_cast<double>(meta.model.parameters) / 1e6, static_cast<long long>(meta.model.layers),
              meta.model.precision.c_str());
  std::printf("target %s, ISA class %s, built by Camshaft %s, %.1f MB\n", meta.fingerprint.target.c_str(),
              meta.fingerprint.isa.c_str(), meta.fingerprint.builder_version.c_str(),
              static_cast<double>(engine.file_bytes()) / 1e6);
  std::printf("source %s\noptions %s\n", meta.fingerprint.source_hash.c_str(), meta.fingerprint.options.c_str());
  std::printf("context %lld, at most %lld rows a step, arena %.1f MB, cache %s, %.1f KB a block of 16 tokens\n\npasses\n",
              static_cast<long long>(plan.context_length), static_cast<long long>(plan.max_batch_tokens),
              static_cast<double>(plan.arena_bytes) / 1e6, std::string(tensor::format_info(plan.kv.format).name).c_str(),
              static_cast<double>(plan.kv.block_bytes()) / 1e3);
  for (const engine::PassRecord& pass : plan.passes) {
    std::printf("  %-20s %5lld changes, %lld nodes after%s\n", pass.name.c_str(), static_cast<long long>(pass.changes),
                static_cast<long long>(pass.nodes_after), pass.enabled ? "" : "  (off)");
  }
  std::puts("\nsteps");
  for (const engine::Step& step : plan.steps) print_step(step, why);
  std::map<std::string, std::pair<int64_t, uint64_t>> layouts;
  for (const engine::ConstantEntry& entry : plan.constants) {
    auto& [count, bytes] = layouts[entry.layout];
    ++count;
    bytes += entry.bytes;
  }
  std::puts("\nconstants by layout");
  for (const auto& [layout, total] : layouts) {
    std::printf("  %-20s %5lld  %10.3f MB\n", layout.c_str(), static_cast<long long>(total.first),
                static_cast<double>(total.second) / 1e6);
  }
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("inspect", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  const auto engine = engine::Engine::open_meta(s.model);
  if (!engine.ok()) return report_failure("inspect", engine.status(), FailedThing::kEngine);
  if (s.json) {
    std::puts(info_json(**engine).dump_pretty(1).c_str());
  } else {
    print_tables(**engine, s.why);
  }
  return 0;
}

}  // namespace

const Command& inspect_command() {
  static const Command command = {"inspect", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
