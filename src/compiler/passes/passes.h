// The passes' functions, one file each; their order and help stand in pipeline.cc. After quantise a weight's type may name another
// format than its bytes have: the one to convert them to.
#pragma once

#include "compiler/compiler.h"

namespace camshaft::compiler {

Result<int64_t> merge_qkv(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> merge_gate_up(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> fold_constants(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> fuse_rope_kv_write(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> fuse_swiglu(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> fuse_add_norm(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> quantise(graph::Graph& graph, const CompileOptions& options);
Result<int64_t> drop_dead(graph::Graph& graph, const CompileOptions& options);

// All of run_passes() but the last step, which is convert_constants(): each weight's bytes in the format of its type.
Result<std::vector<PassReport>> run_pass_list(graph::Graph& graph, const CompileOptions& options);
void convert_constants(graph::Graph& graph);

}  // namespace camshaft::compiler
