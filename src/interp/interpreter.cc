// The interpreter: kernels and weights are bound once, then every node runs in order over plain buffers that live until their last
// reader. Slow and simple on purpose: it is what passes and engines are compared with.
#include "interp/interpreter.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/thread_pool.h"
#include "interp/memory.h"
#include "interp/weights.h"

namespace camshaft::interp {
namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;
using Kind = ops::ValueType::Kind;

struct BoundNode {
  const Node* node = nullptr;
  const kernels::KernelInfo* kernel = nullptr;
  kernels::RunContext context;
  ops::Symbol rows = ops::Symbol::kTokens;
  std::vector<const void*> weights;  // by input; nullptr: no weight
  std::vector<ValueId> last_reads;   // values that nobody reads after this node
};

const ops::RopeParams* rope_of(const ops::OpDesc& desc) {
  if (const auto* rope = std::get_if<ops::RopeDesc>(&desc)) return &rope->rope;
  if (const auto* fused = std::get_if<ops::RopeKvWriteDesc>(&desc)) return &fused->rope;
  return nullptr;
}

std::optional<ops::KvShape> kv_of(const ops::OpDesc& desc) {
  if (const auto* write = std::get_if<ops::KvWriteDesc>(&desc)) return write->kv;
  if (const auto* fused = std::get_if<ops::RopeKvWriteDesc>(&desc)) return fused->kv;
  return std::nullopt;
}

ops::KvLayout kv_layout(const Graph& graph, tensor::Format kv_format) {
  ops::KvLayout layout{.format = kv_format};
  for (const Node& node : graph.nodes()) {
    const auto kv = kv_of(node.desc);
    if (!kv) continue;
    layout.layers = std::max(layout.layers, kv->layer + 1);
    layout.kv_heads = kv->kv_heads;
    layout.head_dim = kv->head_dim;
  }
  return layout;
}

Status check_options(const InterpOptions& options) {
  if (options.kv_format != tensor::Format::kF32 && options.kv_format != tensor::Format::kF16) {
    return base::invalid_argument(format("kv_format={} is not f32 or f16", tensor::format_info(options.kv_format).name));
  }
  if (options.max_tokens < 1 || options.max_tokens > INT32_MAX) {
    return base::invalid_argument(format("max_tokens={}; 1 to {} is allowed", options.max_tokens, INT32_MAX));
  }
  if (options.num_threads >= 1 && options.num_threads <= 1024) return base::ok_status();
  return base::invalid_argument(format("num_threads={}; 1 to 1024 is allowed", options.num_threads));
}

// What the interpreter can feed and hand back.
Status check_ends(const Graph& graph) {
  for (const ValueId id : graph.inputs()) {
    const graph::Value& input = graph.value(id);
    if (input.type.kind == Kind::kIds || input.type.kind == Kind::kRowIndex) continue;
    return base::invalid_argument(
        format("input {} is {}; token ids and row indices can be fed", input.name, ops::type_text(input.type)));
  }
  if (graph.outputs().size() == 1 && graph.value(graph.outputs()[0]).type.kind == Kind::kRows) return base::ok_status();
  return base::invalid_argument(format("the graph has {} outputs; one of f32 rows is expected", graph.outputs().size()));
}

}  // namespace

struct Interpreter::Impl {
  Impl(const Graph& g, const InterpOptions& o) : graph(g), options(o), weights(g) {}

  Status bind();
  Status bind_node(const Node& node);
  Result<const kernels::KernelInfo*> choose(const Node& node) const;
  const float* rope_table(const ops::RopeParams& rope);
  void note_last_reads();

  Status check_call(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows) const;
  void fill_batch(int64_t num_tokens);
  void run_node(const BoundNode& bound, std::span<const int32_t> tokens, std::span<const int32_t> logit_rows);
  const void* input_data(const BoundNode& bound, size_t index, std::span<const int32_t> tokens,
                         std::span<const int32_t> logit_rows) const;
  void launch(const BoundNode& bound, const kernels::KernelCall& call);

  const Graph& graph;
  InterpOptions options;
  kernels::Caps caps;
  WeightStore weights;
  std::vector<BoundNode> nodes;
  std::vector<std::pair<ops::RopeParams, std::vector<float>>> rope_tables;
  std::unique_ptr<base::ThreadPool> pool;
  Observer observer;
  int64_t vocab = 0;  // ids below it may be fed

  // State of the one sequence, and of the call in progress.
  int64_t length = 0;
  device::Buffer cache;
  std::vector<int32_t> blocks;
  std::vector<int32_t> positions;
  kernels::SequenceSlice sequence;
  kernels::BatchView batch;
  std::vector<AlignedBytes> values;
  AlignedBytes workspace;
};

Status Interpreter::Impl::bind() {
  CS_RETURN_IF_ERROR(check_options(options));
  CS_RETURN_IF_ERROR(graph::verify(graph));
  CS_RETURN_IF_ERROR(check_ends(graph));
  caps = {device::DeviceKind::kCpu, options.isa, kv_layout(graph, options.kv_format)};
  const int64_t num_blocks = (options.max_tokens + ops::KvLayout::kBlockTokens - 1) / ops::KvLayout::kBlockTokens;
  if (caps.kv.block_bytes() > 0) {
    CS_ASSIGN_OR_RETURN(cache, device::allocate_host(static_cast<size_t>(num_blocks * caps.kv.block_bytes())));
  }
  for (int64_t block = 0; block < num_blocks; ++block) blocks.push_back(static_cast<int32_t>(block));
  if (options.num_threads > 1) pool = std::make_unique<base::ThreadPool>(options.num_threads, base::Pinning::kFloat);
  vocab = INT32_MAX;
  for (const Node& node : graph.nodes()) CS_RETURN_IF_ERROR(bind_node(node));
  note_last_reads();
  values.resize(static_cast<size_t>(graph.num_values()));
  return base::ok_status();
}

Status Interpreter::Impl::bind_node(const Node& node) {
  if (ops::op_kind(node.desc) == ops::OpKind::kConcatRows) return weights.fold_concat(node);
  if (const auto* embedding = std::get_if<ops::EmbeddingDesc>(&node.desc)) vocab = std::min(vocab, embedding->vocab);
  BoundNode bound{.node = &node};
  CS_ASSIGN_OR_RETURN(bound.kernel, choose(node));
  bound.context = {&node.desc, bound.kernel->tactics(node.desc).front().id, &caps, bound.kernel->weight_layout(node.desc), nullptr};
  if (const ops::RopeParams* rope = rope_of(node.desc)) bound.context.rope_table = rope_table(*rope);
  for (const ValueId id : node.inputs) {
    const ops::ValueType& type = graph.value(id).type;
    const bool weight = type.kind == Kind::kWeight;
    bound.weights.push_back(nullptr);
    if (!weight) continue;
    const bool matrix = type.shape.size() == 2;
    CS_ASSIGN_OR_RETURN(bound.weights.back(), matrix ? weights.matrix(id, bound.context.layout) : weights.vector(id));
  }
  const ops::ValueType& first = graph.value(node.outputs.front()).type;
  // A cache state has no rows of its own: its node runs over those of its input.
  bound.rows = first.kind == Kind::kKvState ? graph.value(node.inputs.front()).type.shape[0].symbol : first.shape[0].symbol;
  nodes.push_back(std::move(bound));
  return base::ok_status();
}

Result<const kernels::KernelInfo*> Interpreter::Impl::choose(const Node& node) const {
  if (options.kernels == InterpOptions::Kernels::kBest) {
    const kernels::Choice choice = kernels::choose_kernel(node.desc, caps);
    if (choice.kernel != nullptr) return choice.kernel;
    return base::unimplemented(format("node '{}': no kernel supports {}", node.name, ops::desc_text(node.desc)));
  }
  const auto list = kernels::kernel_list(caps.device, ops::op_kind(node.desc));
  CS_CHECK(!list.empty(), ops::op_name(ops::op_kind(node.desc)));
  const kernels::Support support = list.back().supports(node.desc, caps);
  if (support.yes) return &list.back();
  return base::unimplemented(format("node '{}': {} refuses: {}", node.name, list.back().name, support.reason));
}

const float* Interpreter::Impl::rope_table(const ops::RopeParams& rope) {
  for (const auto& [params, table] : rope_tables) {
    if (params == rope) return table.data();
  }
  std::vector<float> table(static_cast<size_t>(options.max_tokens * rope.rotary_dim));
  ops::fill_rope_table(rope, options.max_tokens, table.data());
  return rope_tables.emplace_back(rope, std::move(table)).second.data();
}

void Interpreter::Impl::note_last_reads() {
  std::vector<bool> seen(static_cast<size_t>(graph.num_values()), false);
  for (const ValueId id : graph.outputs()) seen[static_cast<size_t>(id)] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    for (const auto* ids : {&nodes[i].node->inputs, &nodes[i].node->outputs}) {
      for (const ValueId id : *ids) {
        if (!seen[static_cast<size_t>(id)]) nodes[i].last_reads.push_back(id);
        seen[static_cast<size_t>(id)] = true;
      }
    }
  }
}

Status Interpreter::Impl::check_call(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows) const {
  const auto count = static_cast<int64_t>(tokens.size());
  if (count == 0) return base::invalid_argument("there are no tokens to run");
  if (count > options.max_tokens - length) {
    return base::resource_exhausted(
        format("{} tokens after {} do not fit the cache of {}; raise max_tokens", count, length, options.max_tokens));
  }
  for (const int32_t id : tokens) {
    if (id < 0 || id >= vocab)
      return base::invalid_argument(format("token id {} is out of range; 0 to {} is allowed", id, vocab - 1));
  }
  for (const int32_t row : logit_rows) {
    if (row < 0 || row >= count)
      return base::invalid_argument(format("logit row {} is out of range; 0 to {} is allowed", row, count - 1));
  }
  return base::ok_status();
}

void Interpreter::Impl::fill_batch(int64_t num_tokens) {
  positions.resize(static_cast<size_t>(num_tokens));
  for (int64_t i = 0; i < num_tokens; ++i) positions[static_cast<size_t>(i)] = static_cast<int32_t>(length + i);
  sequence = {0, static_cast<int32_t>(num_tokens), static_cast<int32_t>(length), blocks.data()};
  batch = {num_tokens, positions.data(), &sequence, 1, cache.data()};
}

const void* Interpreter::Impl::input_data(const BoundNode& bound, size_t index, std::span<const int32_t> tokens,
                                          std::span<const int32_t> logit_rows) const {
  const ValueId id = bound.node->inputs[index];
  switch (graph.value(id).type.kind) {
    case Kind::kIds: return tokens.data();
    case Kind::kRowIndex: return logit_rows.data();
    case Kind::kWeight: return bound.weights[index];
    case Kind::kKvState: return nullptr;
    case Kind::kRows: return values[static_cast<size_t>(id)].data();
  }
  return nullptr;
}

void Interpreter::Impl::run_node(const BoundNode& bound, std::span<const int32_t> tokens, std::span<const int32_t> logit_rows) {
  const auto rows = static_cast<int64_t>(bound.rows == ops::Symbol::kLogitRows ? logit_rows.size() : tokens.size());
  const auto columns = [&](ValueId id) {
    const ops::ValueType& type = graph.value(id).type;
    return type.kind == Kind::kRows ? type.shape[1].size : 0;
  };
  std::vector<kernels::TensorArg> in, out;
  for (size_t i = 0; i < bound.node->inputs.size(); ++i) {
    // Kernels take inputs and outputs in one kind of struct and write only to outputs.
    in.push_back({const_cast<void*>(input_data(bound, i, tokens, logit_rows)), columns(bound.node->inputs[i])});
  }
  for (const ValueId id : bound.node->outputs) {
    AlignedBytes& bytes = values[static_cast<size_t>(id)];
    bytes = AlignedBytes(static_cast<size_t>(rows * columns(id)) * sizeof(float));
    out.push_back({bytes.data(), columns(id)});
  }
  if (rows > 0) launch(bound, {rows, in.data(), out.data(), nullptr, &batch});
  for (const ValueId id : bound.node->outputs) {
    if (observer && columns(id) > 0) observer(id, values[static_cast<size_t>(id)].floats(), columns(id));
  }
  for (const ValueId id : bound.last_reads) values[static_cast<size_t>(id)] = {};
}

void Interpreter::Impl::launch(const BoundNode& bound, const kernels::KernelCall& plain_call) {
  const auto bytes =
      static_cast<size_t>(bound.kernel->workspace_bytes(bound.node->desc, caps, plain_call.rows, options.num_threads));
  if (workspace.size() < bytes) workspace = AlignedBytes(bytes);
  kernels::KernelCall call = plain_call;
  call.workspace = workspace.data();
  auto work = [&](int worker) { bound.kernel->run({worker, options.num_threads, pool.get(), nullptr}, bound.context, call); };
  if (pool) {
    pool->run(work);
  } else {
    work(0);
  }
}

Interpreter::Interpreter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Interpreter::Interpreter(Interpreter&&) noexcept = default;
Interpreter& Interpreter::operator=(Interpreter&&) noexcept = default;
Interpreter::~Interpreter() = default;

Result<Interpreter> Interpreter::make(const Graph& graph, const InterpOptions& options) {
  auto impl = std::make_unique<Impl>(graph, options);
  CS_RETURN_IF_ERROR(impl->bind());
  return Interpreter(std::move(impl));
}

Result<std::vector<float>> Interpreter::run(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows) {
  CS_RETURN_IF_ERROR(impl_->check_call(tokens, logit_rows));
  impl_->fill_batch(static_cast<int64_t>(tokens.size()));
  for (const BoundNode& node : impl_->nodes) impl_->run_node(node, tokens, logit_rows);
  impl_->length += static_cast<int64_t>(tokens.size());
  const std::span<const float> out = impl_->values[static_cast<size_t>(impl_->graph.outputs()[0])].floats();
  return std::vector<float>(out.begin(), out.end());
}

void Interpreter::reset() { impl_->length = 0; }

void Interpreter::observe(Observer observer) { impl_->observer = std::move(observer); }

}  // namespace camshaft::interp
