// What entries of the lists have in common: the answers of kernels that need nothing special, and access to rows.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/kernel.h"

namespace camshaft::kernels {

inline Support supports_all(const ops::OpDesc&, const Caps&) { return Support::ok(); }
inline std::vector<Tactic> one_tactic(const ops::OpDesc&) { return {{0, "only"}}; }
inline int64_t no_workspace(const ops::OpDesc&, const Caps&, int64_t, int) { return 0; }
inline const WeightLayout* no_layout(const ops::OpDesc&) { return nullptr; }

inline float* row_of(const TensorArg& arg, int64_t row) { return static_cast<float*>(arg.data) + row * arg.stride; }

inline base::WorkRange share_of(const device::Launch& launch, int64_t count, int64_t grain = 1) {
  return base::work_share(count, grain, launch.worker, launch.num_workers);
}

template <typename Desc>
const Desc& desc_of(const RunContext& context) {
  return std::get<Desc>(*context.desc);
}

}  // namespace camshaft::kernels
