// The one ordered list of passes, and running it.
#include <algorithm>
#include <chrono>

#include "base/format.h"
#include "compiler/compiler.h"
#include "compiler/passes/passes.h"

namespace camshaft::compiler {

const std::vector<Pass>& passes() {
  static const std::vector<Pass> list = {
      {"merge_qkv", "one GEMM for the q, k and v projections", merge_qkv},
      {"merge_gate_up", "one GEMM for the gate and up projections", merge_gate_up},
      {"fold_constants", "computes what depends on constants alone", fold_constants},
      {"fuse_rope_kv_write", "rope of q and k and the cache write in one op", fuse_rope_kv_write},
      {"fuse_swiglu", "silu(gate) * up in one op", fuse_swiglu},
      {"fuse_add_norm", "residual add and norm in one op", fuse_add_norm},
      {"quantise", "weight formats and activation types for the precision asked for", quantise},
      {"drop_dead", "drops nodes that nothing reads", drop_dead},
  };
  return list;
}

namespace {

std::string pass_names() {
  std::string names;
  for (const Pass& pass : passes()) names += (names.empty() ? "" : ", ") + std::string(pass.name);
  return names;
}

Status check_name(std::string_view option, const std::string& name) {
  if (std::ranges::any_of(passes(), [&](const Pass& pass) { return pass.name == name; })) return base::ok_status();
  return base::invalid_argument(format("{}: there is no pass '{}'; the passes are {}", option, name, pass_names()));
}

// What lowering cannot do without: activation types and formats are decided here.
constexpr std::string_view kNeeded[] = {"fold_constants", "quantise"};

Status check_disabled(const std::string& name) {
  CS_RETURN_IF_ERROR(check_name("--passes", name));
  if (std::ranges::find(kNeeded, name) == std::end(kNeeded)) return base::ok_status();
  return base::invalid_argument(format("--passes: '{}' cannot be switched off: lowering needs it", name));
}

Result<PassReport> run_pass(const Pass& pass, graph::Graph& graph, const CompileOptions& options) {
  PassReport report{std::string(pass.name), true, 0, 0, 0};
  report.enabled = std::ranges::find(options.disabled_passes, pass.name) == options.disabled_passes.end();
  const auto start = std::chrono::steady_clock::now();
  if (report.enabled) {
    auto changes = pass.run(graph, options);
    if (!changes.ok()) return std::move(changes).status().with_context(format("pass {}", pass.name));
    report.changes = *changes;
    Status verified = graph::verify(graph);
    if (!verified.ok()) return std::move(verified).with_context(format("after pass {}", pass.name));
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.nodes_after = static_cast<int64_t>(graph.nodes().size());
  return report;
}

}  // namespace

Result<std::vector<PassReport>> run_pass_list(graph::Graph& graph, const CompileOptions& options) {
  for (const std::string& name : options.disabled_passes) CS_RETURN_IF_ERROR(check_disabled(name));
  if (!options.stop_after.empty()) CS_RETURN_IF_ERROR(check_name("--stop-after", options.stop_after));
  std::vector<PassReport> reports;
  for (const Pass& pass : passes()) {
    CS_ASSIGN_OR_RETURN(reports.emplace_back(), run_pass(pass, graph, options));
    if (pass.name == options.stop_after) break;
  }
  return reports;
}

Result<std::vector<PassReport>> run_passes(graph::Graph& graph, const CompileOptions& options) {
  auto reports = run_pass_list(graph, options);
  if (reports.ok()) convert_constants(graph);
  return reports;
}

}  // namespace camshaft::compiler
