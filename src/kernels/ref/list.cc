// The list of reference kernels, and the one op that never runs.
#include "kernels/entry.h"
#include "kernels/ref/ref.h"

namespace camshaft::kernels {
namespace {

Support never_runs(const ops::OpDesc&, const Caps&) {
  return Support::no("joins constants only: folded before anything runs (pass fold_constants)");
}

void run_never(const device::Launch&, const RunContext&, const KernelCall&) {}

}  // namespace

constinit const KernelInfo kConcatRowsRef = {
    "concat_rows_ref", ops::OpKind::kConcatRows, never_runs, one_tactic, no_workspace, no_layout, run_never};

std::span<const KernelInfo> reference_kernels() {
  static const KernelInfo kernels[] = {kEmbeddingRef, kRmsNormRef,     kAddRmsNormRef, kGemmRef,       kAddRef,
                                       kMulRef,       kSiluRef,        kSwigluRef,     kSliceRef,      kRopeRef,
                                       kKvWriteRef,   kRopeKvWriteRef, kAttentionRef,  kGatherRowsRef, kConcatRowsRef};
  return kernels;
}

}  // namespace camshaft::kernels
