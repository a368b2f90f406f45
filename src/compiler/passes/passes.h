// The passes' functions, one file each; their order and help stand in pipeline.cc.
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

}  // namespace camshaft::compiler
