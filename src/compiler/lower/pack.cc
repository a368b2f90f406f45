// Constants into the format and layout their kernel wants, group by group in parallel.
#include "base/format.h"
#include "compiler/compiler.h"
#include "compiler/passes/passes.h"
#include "kernels/kernel.h"
#include "tensor/quant/convert.h"

namespace camshaft::compiler {
namespace {

const graph::Constant* find_constant(const graph::Graph& graph, const std::string& name) {
  for (graph::ValueId id = 0; id < graph.num_values(); ++id) {
    const graph::Value& value = graph.value(id);
    if (value.constant && value.name == name) return &*value.constant;
  }
  return nullptr;
}

// The rows of one group at a time, in the format that is packed. One worker's own.
class GroupReader {
 public:
  GroupReader(const graph::Constant& constant, tensor::Format format, int64_t row_group)
      : constant_(constant), format_(format), row_bytes_(tensor::format_bytes(format, constant.columns())) {
    rows_.resize(static_cast<size_t>(row_group));
    if (constant.format() == format) return;
    converted_.resize(static_cast<size_t>(row_group * row_bytes_));
    scratch_.resize(static_cast<size_t>(constant.columns()));
  }

  // Null pointers behind the last row; valid until the next call.
  const std::byte* const* read(int64_t group) {
    const auto row_group = static_cast<int64_t>(rows_.size());
    for (int64_t i = 0; i < row_group; ++i) {
      const int64_t row = group * row_group + i;
      rows_[static_cast<size_t>(i)] = row < constant_.rows() ? in_format(constant_.row(row), i) : nullptr;
    }
    return rows_.data();
  }

 private:
  const std::byte* in_format(const std::byte* row, int64_t slot) {
    if (converted_.empty()) return row;
    std::byte* out = converted_.data() + slot * row_bytes_;
    tensor::convert_row(constant_.format(), row, format_, out, constant_.columns(), scratch_.data());
    return out;
  }

  const graph::Constant& constant_;
  tensor::Format format_;
  int64_t row_bytes_;
  std::vector<const std::byte*> rows_;
  std::vector<std::byte> converted_;  // [row_group][row_bytes]; empty where nothing is to be converted
  std::vector<float> scratch_;
};

}  // namespace

Status pack_constant(const graph::Constant& constant, const engine::ConstantEntry& entry, std::span<std::byte> out,
                     base::ThreadPool& pool) {
  const kernels::WeightLayout* layout = kernels::find_layout(entry.layout);
  if (layout == nullptr || out.size() != entry.bytes || constant.rows() != entry.n || constant.columns() != entry.k) {
    return base::internal_error(format("packing '{}': [{}, {}] in layout '{}' does not fit {} bytes", entry.name, entry.n, entry.k,
                                       entry.layout, out.size()));
  }
  const int64_t groups = (entry.n + layout->row_group - 1) / layout->row_group;
  const int64_t group_bytes = layout->group_bytes(entry.k);
  auto work = [&](int worker) {
    GroupReader reader(constant, entry.format, layout->row_group);
    const base::WorkRange range = base::work_share(groups, 1, worker, pool.num_threads());
    for (int64_t group = range.begin; group < range.end; ++group) {
      layout->pack_group(reader.read(group), entry.k, out.data() + group * group_bytes);
    }
  };
  pool.run(work);
  return base::ok_status();
}

Result<CompileResult> compile(graph::Graph graph, engine::EngineMeta meta, const CompileOptions& options,
                              const std::filesystem::path& output, base::ThreadPool& pool, const Progress& progress,
                              const ReleaseConstant& release) {
  CompileResult result;
  progress("passes", 0);
  CS_ASSIGN_OR_RETURN(result.passes, run_pass_list(graph, options));
  progress("lower", 0);
  const int64_t context_length = meta.plan.context_length;
  CS_ASSIGN_OR_RETURN(meta.plan, lower(graph, result.passes, options));
  meta.plan.context_length = context_length;
  meta.fingerprint.isa = kernels::isa_name(options.isa);
  meta.fingerprint.features = kernels::isa_features(options.isa);
  meta.model.precision = precision_name(options.precision);

  uint64_t total = 1, done = 0;
  for (const engine::ConstantEntry& entry : meta.plan.constants) total += entry.bytes;
  const auto fill = [&](const engine::ConstantEntry& entry, std::span<std::byte> out) -> Status {
    const graph::Constant* constant = find_constant(graph, entry.name);
    if (constant == nullptr) return base::internal_error(format("constant '{}' is not in the graph", entry.name));
    CS_RETURN_IF_ERROR(pack_constant(*constant, entry, out, pool));
    if (release) release(*constant);
    done += entry.bytes;
    progress("pack", static_cast<double>(done) / static_cast<double>(total));
    return base::ok_status();
  };
  CS_ASSIGN_OR_RETURN(result.file_bytes, engine::write_engine(output, meta, fill));
  progress("done", 1);
  result.meta = std::move(meta);
  return result;
}

}  // namespace camshaft::compiler
