// Modes: correct (against the reference), repeat (bitwise, also with other numbers of workers), rows (row-invariance), perf.
#include "modes.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <set>

#include "base/format.h"
#include "compare.h"

namespace camshaft::opcheck {
namespace {

using kernels::KernelInfo;

bool is_reference(const KernelInfo& kernel) { return kernel.name.ends_with("_ref"); }

// Ways to cut `rows` rows into batches: one by one (at most 40 of them, spread out), and pieces of several sizes.
std::vector<std::vector<Piece>> cuts_of(int64_t rows) {
  std::vector<std::vector<Piece>> cuts;
  for (const int64_t size : {1, 2, 3, 5, 7, 16, 19, 64}) {
    if (size > 1 && size >= rows) break;
    std::vector<Piece>& cut = cuts.emplace_back();
    for (int64_t begin = 0; begin < rows; begin += size) cut.push_back({begin, std::min(begin + size, rows)});
  }
  return cuts;
}

class Session {
 public:
  explicit Session(const CheckOptions& options) : options_(options) {
    caps_.isa = options.isa;
    for (int threads = 1; threads <= 3; ++threads)
      pools_.push_back(std::make_unique<base::ThreadPool>(threads, base::Pinning::kFloat));
  }

  int run() {
    for (const Case& one : options_.cases) {
      const ops::OpKind op = ops::op_kind(one.desc);
      if (options_.op.empty() || options_.op == ops::op_name(op)) run_case(one, op);
    }
    if (options_.every_case && options_.mode != "list" && options_.mode != "perf") check_reached();
    printf("%s, isa %s: %d checks, %d failures\n", options_.mode.c_str(), std::string(kernels::isa_name(options_.isa)).c_str(),
           checks_, failures_);
    return failures_;
  }

 private:
  bool mode(std::string_view name) const {
    return options_.mode == name || (options_.mode == "all" && name != "list" && name != "perf");
  }

  void run_case(const Case& one, ops::OpKind op) {
    std::unique_ptr<Problem> problem;
    kernels::Caps caps = caps_;
    caps.kv = {one.kv_format, one.key_order, 1, 1, 1};
    expected_.reset();
    for (const KernelInfo& kernel : kernels::kernel_list(caps.device, op)) {
      if (!options_.kernel.empty() && kernel.name != options_.kernel) continue;
      const kernels::Support support = kernel.supports(one.desc, caps);
      if (options_.mode == "list") {
        printf("%s: %s%s\n", one.line.c_str(), std::string(kernel.name).c_str(),
               support.yes ? "" : (" - " + support.reason).c_str());
      }
      if (!support.yes) continue;
      reached_.insert(kernel.name);
      if (options_.mode == "list" || checked_below(one, kernel, caps)) continue;
      if (problem == nullptr) problem = std::make_unique<Problem>(make_problem(one));
      run_kernel(*problem, kernel);
    }
  }

  bool checked_below(const Case& one, const KernelInfo& kernel, kernels::Caps caps) const {
    if (!options_.only_new || caps.isa == kernels::Isa::kGeneric) return false;
    caps.isa = static_cast<kernels::Isa>(static_cast<int>(caps.isa) - 1);
    return kernel.supports(one.desc, caps).yes;
  }

  void run_kernel(const Problem& problem, const KernelInfo& kernel) {
    Runner runner(problem, kernel, caps_);
    for (const kernels::Tactic& tactic : kernel.tactics(problem.spec.desc)) {
      if (mode("correct") && !is_reference(kernel)) correct(problem, kernel, runner, tactic);
      if (mode("repeat")) repeat(problem, kernel, runner, tactic);
      if (mode("rows")) rows(problem, kernel, runner, tactic);
      if (mode("perf") && (!is_reference(kernel) || options_.with_ref)) perf(problem, kernel, runner, tactic);
    }
  }

  void report(std::string_view mode_name, const Problem& problem, const KernelInfo& kernel, const kernels::Tactic& tactic,
              const std::string& difference) {
    ++checks_;
    if (difference.empty()) return;
    ++failures_;
    printf("FAILED %s\n  kernel %s, tactic %s\n  opcheck %s --isa %s --kernel %s --case '%s'\n", difference.c_str(),
           std::string(kernel.name).c_str(), tactic.name.c_str(), std::string(mode_name).c_str(),
           std::string(kernels::isa_name(options_.isa)).c_str(), std::string(kernel.name).c_str(), problem.spec.line.c_str());
    fflush(stdout);
  }

  // The reference's answer, computed once a case.
  const Outputs& expected(const Problem& problem) {
    if (!expected_) {
      const KernelInfo& reference = kernels::kernel_list(caps_.device, ops::op_kind(problem.spec.desc)).back();
      expected_ = Runner(problem, reference, caps_).run(0, *pools_[1]);
    }
    return *expected_;
  }

  void correct(const Problem& problem, const KernelInfo& kernel, Runner& runner, const kernels::Tactic& tactic) {
    report("correct", problem, kernel, tactic, compare_close(problem, runner.run(tactic.id, *pools_[1]), expected(problem)));
  }

  void repeat(const Problem& problem, const KernelInfo& kernel, Runner& runner, const kernels::Tactic& tactic) {
    const Outputs first = runner.run(tactic.id, *pools_[1]);
    for (const auto& pool : pools_) {
      std::string difference = compare_bits(runner.run(tactic.id, *pool), first);
      if (!difference.empty()) difference = format("{} workers against 2: ", pool->num_threads()) + difference;
      report("repeat", problem, kernel, tactic, difference);
    }
  }

  // Against the default tactic on the whole batch.
  void rows(const Problem& problem, const KernelInfo& kernel, Runner& runner, const kernels::Tactic& tactic) {
    const int32_t first_tactic = kernel.tactics(problem.spec.desc)[0].id;
    const Outputs whole = runner.run(first_tactic, *pools_[1]);
    if (tactic.id != first_tactic) {
      report("rows", problem, kernel, tactic, compare_bits(runner.run(tactic.id, *pools_[1]), whole));
    }
    for (const std::vector<Piece>& cut : cuts_of(problem.spec.rows)) {
      std::string difference = compare_bits(runner.run(tactic.id, *pools_[1], cut), whole);
      if (!difference.empty())
        difference = format("in batches of {} rows against {}: ", cut[0].end, problem.spec.rows) + difference;
      report("rows", problem, kernel, tactic, difference);
    }
  }

  void perf(const Problem& problem, const KernelInfo& kernel, Runner& runner, const kernels::Tactic& tactic) {
    base::ThreadPool pool(options_.threads, base::Pinning::kPin);
    const Runner::Timing timing = runner.time(tactic.id, pool, options_.seconds);
    int64_t context = 0;
    for (const SequenceSpec& sequence : problem.spec.sequences)
      context = std::max(context, sequence.start + (sequence.rows + 1) / 2);
    const ops::OpCost cost = ops::op_cost(problem.spec.desc, problem.spec.rows, context);
    printf("%-40s %-8s best %9.2f us, median %9.2f us, %7.1f GFLOP/s, weights %6.1f GB/s, x%lld %8.3f ms  %s\n",
           std::string(kernel.name).c_str(), tactic.name.c_str(), timing.best * 1e6, timing.median * 1e6,
           cost.flops / timing.best * 1e-9, cost.weight_bytes / timing.best * 1e-9, static_cast<long long>(problem.spec.count),
           timing.best * 1e3 * static_cast<double>(problem.spec.count), problem.spec.line.c_str());
    fflush(stdout);
  }

  // The class in a kernel's name ("..._avx2"); those above the cap cannot be reached.
  bool within_cap(std::string_view name) const {
    const Result<kernels::Isa> isa = kernels::parse_isa(name.substr(name.rfind('_') + 1));
    return !isa.ok() || *isa <= options_.isa;
  }

  void check_reached() {
    for (int op = 0; op < ops::kNumOpKinds; ++op) {
      if (static_cast<ops::OpKind>(op) == ops::OpKind::kConcatRows) continue;  // never runs
      for (const KernelInfo& kernel : kernels::kernel_list(caps_.device, static_cast<ops::OpKind>(op))) {
        if (reached_.count(kernel.name) > 0 || !within_cap(kernel.name)) continue;
        ++failures_;
        printf("FAILED no case reaches kernel %s\n", std::string(kernel.name).c_str());
      }
    }
  }

  const CheckOptions& options_;
  kernels::Caps caps_;
  std::vector<std::unique_ptr<base::ThreadPool>> pools_;  // of 1, 2 and 3 workers
  std::optional<Outputs> expected_;
  std::set<std::string_view> reached_;
  int checks_ = 0;
  int failures_ = 0;
};

}  // namespace

int run_modes(const CheckOptions& options) { return Session(options).run(); }

}  // namespace camshaft::opcheck
