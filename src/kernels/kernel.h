// KernelInfo: a list entry. One ordered list an op and device, reference last; every refusal has its reason.
//
// Named invariant row-invariance: each kernel gives a row the same bits whatever the number of rows, the bucket, the number of
// workers and the tactic; kernels of one list on one ISA class may differ from each other only within opcheck's bounds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "device/device.h"
#include "kernels/call.h"
#include "kernels/isa.h"
#include "ops/op.h"

namespace camshaft::kernels {

// What the target offers and what the plan fixes for all steps.
struct Caps {
  device::DeviceKind device = device::DeviceKind::kCpu;
  Isa isa = Isa::kGeneric;
  ops::KvLayout kv;
};

struct Support {
  bool yes = false;
  std::string reason;  // why not
  static Support ok() { return {true, {}}; }
  static Support no(std::string reason) { return {false, std::move(reason)}; }
};

// A way to run a kernel: tile sizes and the like. `id` is stored in the plan; the name says what it is ("m8").
struct Tactic {
  int32_t id = 0;
  std::string name;
};

// A layout of a weight matrix [n, k] as kernels want it in memory. Rows are packed in groups so that groups can be packed in
// parallel.
struct WeightLayout {
  std::string_view name;  // "rows", "i4b32m_r16", ...; stored in the plan
  tensor::Format format;
  int64_t row_group;  // rows packed together; n is padded up to it with zero rows
  // Bytes of one group of `row_group` rows of k columns. All groups have the same size.
  int64_t (*group_bytes)(int64_t k);
  // Packs rows[0..row_group) (each in `format`, row-major blocks; nullptr: a zero row) into `out`.
  void (*pack_group)(const std::byte* const* rows, int64_t k, std::byte* out);
  // Row `row` (0..row_group) of a packed group as f32 [k].
  void (*unpack_row)(const std::byte* group, int64_t row, int64_t k, float* out);
};
int64_t packed_bytes(const WeightLayout& layout, int64_t n, int64_t k);
const WeightLayout* find_layout(std::string_view name);  // nullptr: unknown
std::span<const WeightLayout> all_layouts();

// What does not change between steps: bound once when a plan is loaded.
struct RunContext {
  const ops::OpDesc* desc = nullptr;
  int32_t tactic = 0;
  const Caps* caps = nullptr;
  const WeightLayout* layout = nullptr;  // of the weight input
  const float* rope_table = nullptr;     // rope ops: ops::fill_rope_table over every position the plan allows
};

struct KernelInfo {
  std::string_view name;  // "gemm_i4b32m_i8b32_avx512vnni"
  ops::OpKind op;
  Support (*supports)(const ops::OpDesc& desc, const Caps& caps);
  // At least one; the first is the default.
  std::vector<Tactic> (*tactics)(const ops::OpDesc& desc);
  // Bytes for at most `max_rows` rows and `max_workers` workers.
  int64_t (*workspace_bytes)(const ops::OpDesc& desc, const Caps& caps, int64_t max_rows, int max_workers);
  // Layout of the weight input (gemm, embedding), or nullptr where the op has none. An embedding accepts any layout of its format:
  // the layout in use comes in `RunContext`.
  const WeightLayout* (*weight_layout)(const ops::OpDesc& desc);
  // Every worker calls it; the caller puts a barrier behind it. Must not fail: what can fail was refused by supports().
  void (*run)(const device::Launch& launch, const RunContext& context, const KernelCall& call);
};

// In order of preference, all classes; the reference stands last and supports everything.
std::span<const KernelInfo> kernel_list(device::DeviceKind device, ops::OpKind op);
const KernelInfo* find_kernel(device::DeviceKind device, std::string_view name);

// The first supporting kernel, and why each one before it was passed over.
struct Choice {
  const KernelInfo* kernel = nullptr;
  std::vector<std::pair<std::string_view, std::string>> refused;  // kernel name, reason
};
Choice choose_kernel(const ops::OpDesc& desc, const Caps& caps);

}  // namespace camshaft::kernels
