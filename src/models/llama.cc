// The Llama family: pre-norm decoder with rotary attention over grouped heads and a gated SiLU MLP. Mistral is the same graph;
// Qwen2 is it with biases on q, k and v.
#include <array>
#include <cmath>
#include <cstring>

#include "base/format.h"
#include "models/families.h"
#include "models/rope_config.h"
#include "models/weights.h"

namespace camshaft::models {
namespace {

using checkpoint::Checkpoint;
using checkpoint::Source;
using graph::ValueId;

// ---- which file says what ----

// Keys of config.json and, after "<architecture>.", of GGUF.
struct Keys {
  const char *layers, *hidden, *intermediate, *heads, *kv_heads, *head_dim, *vocab, *context, *norm_eps;
};
constexpr Keys kJsonKeys = {"num_hidden_layers",   "hidden_size", "intermediate_size", "num_attention_heads",
                            "num_key_value_heads", "head_dim",    "vocab_size",        "max_position_embeddings",
                            "rms_norm_eps"};
constexpr Keys kGgufKeys = {"block_count",          "embedding_length",        "feed_forward_length",
                            "attention.head_count", "attention.head_count_kv", "attention.key_length",
                            "vocab_size",           "context_length",          "attention.layer_norm_rms_epsilon"};

// Tensor names without ".weight" and ".bias"; `layer` is followed by the number and a dot.
struct Names {
  const char *embedding, *norm, *head, *layer;
  const char *attention_norm, *q, *k, *v, *o, *mlp_norm, *gate, *up, *down;
};
constexpr Names kJsonNames = {
    "model.embed_tokens", "model.norm",       "lm_head",          "model.layers.",    "input_layernorm",
    "self_attn.q_proj",   "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "post_attention_layernorm",
    "mlp.gate_proj",      "mlp.up_proj",      "mlp.down_proj"};
constexpr Names kGgufNames = {"token_embd", "output_norm", "output",   "blk.",     "attn_norm", "attn_q",  "attn_k",
                              "attn_v",     "attn_output", "ffn_norm", "ffn_gate", "ffn_up",    "ffn_down"};

bool is_gguf(const Checkpoint& checkpoint) { return checkpoint.source() == Source::kGguf; }
const Names& names_of(const Checkpoint& checkpoint) { return is_gguf(checkpoint) ? kGgufNames : kJsonNames; }

// GGUF's general.architecture or config.json's model_type.
std::string architecture(const Checkpoint& checkpoint) {
  const Json* value = checkpoint.config().find(is_gguf(checkpoint) ? "general.architecture" : "model_type");
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

// ---- configuration ----

// Settings that would change the computation and that this family does not know.
Status refuse_foreign_gguf(const ConfigReader& config, const std::string& prefix) {
  for (const char* key : {"expert_count", "logit_scale", "residual_scale", "embedding_scale", "attention.scale"}) {
    if (!config.has(prefix + key)) continue;
    CS_ASSIGN_OR_RETURN(const bool zero, [&]() -> Result<bool> {
      if (std::string_view(key) != "expert_count") return false;
      CS_ASSIGN_OR_RETURN(const int64_t experts, config.integer(prefix + key, {0, INT32_MAX}));
      return experts == 0;
    }());
    if (!zero) return base::unimplemented(format("{} is set; models with it are not supported", config.name_of(prefix + key)));
  }
  return base::ok_status();
}

Status refuse_foreign_json(const ConfigReader& config) {
  if (config.has("quantization_config")) {
    return base::unimplemented(
        format("{} is set; only checkpoints with plain weights are supported", config.name_of("quantization_config")));
  }
  CS_ASSIGN_OR_RETURN(const std::string activation, config.text_or("hidden_act", "silu"));
  if (activation == "silu") return base::ok_status();
  return base::unimplemented(format("{}='{}' is not supported, only 'silu'", config.name_of("hidden_act"), activation));
}

// The sizes that both sources give under their own keys.
Status read_sizes(const ConfigReader& reader, const std::string& prefix, const Keys& keys, ModelConfig& out) {
  const auto key = [&](const char* name) { return prefix + name; };
  CS_ASSIGN_OR_RETURN(out.layers, reader.integer(key(keys.layers), {1, 1024}));
  CS_ASSIGN_OR_RETURN(out.hidden, reader.integer(key(keys.hidden), {1, 1 << 17}));
  CS_ASSIGN_OR_RETURN(out.intermediate, reader.integer(key(keys.intermediate), {1, 1 << 20}));
  CS_ASSIGN_OR_RETURN(out.heads, reader.integer(key(keys.heads), {1, 4096}));
  CS_ASSIGN_OR_RETURN(out.kv_heads, reader.integer_or(key(keys.kv_heads), out.heads, {1, 4096}));
  CS_ASSIGN_OR_RETURN(out.context_length, reader.integer(key(keys.context), {1, 1 << 24}));
  // config.json may leave it to the published default; GGUF always says it.
  CS_ASSIGN_OR_RETURN(const double eps,
                      prefix.empty() ? reader.positive_or(key(keys.norm_eps), 1e-6) : reader.positive(key(keys.norm_eps)));
  if (eps >= 0.1)
    return base::invalid_argument(format("{}={} is out of range; below 0.1 is allowed", reader.name_of(key(keys.norm_eps)), eps));
  out.norm_eps = static_cast<float>(eps);
  if (out.heads % out.kv_heads != 0) {
    return base::invalid_argument(
        format("{}={} is not a multiple of {}={}", reader.name_of(key(keys.heads)), out.heads, key(keys.kv_heads), out.kv_heads));
  }
  if (!reader.has(key(keys.head_dim)) && out.hidden % out.heads != 0) {
    return base::invalid_argument(format("{}={} is not a multiple of {}={}, and {} is missing", reader.name_of(key(keys.hidden)),
                                         out.hidden, key(keys.heads), out.heads, key(keys.head_dim)));
  }
  CS_ASSIGN_OR_RETURN(out.head_dim, reader.integer_or(key(keys.head_dim), out.hidden / out.heads, {2, 1024}));
  return base::ok_status();
}

// Within a window no longer than it, sliding attention is plain attention: the context ends there.
Status clip_to_window(const ConfigReader& config, std::string_view key, ModelConfig& out) {
  CS_ASSIGN_OR_RETURN(const int64_t window, config.integer_or(key, out.context_length, {1, INT32_MAX}));
  out.context_length = std::min(out.context_length, window);
  return base::ok_status();
}

Status use_rope(Result<RopeSettings> settings, ModelConfig& out) {
  if (!settings.ok()) return std::move(settings).status();
  out.rope = std::move(settings->rope);
  out.context_length = settings->context_length;
  return base::ok_status();
}

Status read_gguf(const Checkpoint& checkpoint, ModelConfig& out) {
  const std::string prefix = architecture(checkpoint) + ".";
  const ConfigReader reader(checkpoint.config(), "GGUF: ");
  CS_RETURN_IF_ERROR(refuse_foreign_gguf(reader, prefix));
  CS_RETURN_IF_ERROR(read_sizes(reader, prefix, kGgufKeys, out));
  CS_ASSIGN_OR_RETURN(const int64_t value_length, reader.integer_or(prefix + "attention.value_length", out.head_dim, {1, 1024}));
  if (value_length != out.head_dim) {
    return base::unimplemented(
        format("GGUF: {}attention.value_length={} differs from the keys' {}", prefix, value_length, out.head_dim));
  }
  // Older files leave the vocabulary's size to the embedding's shape.
  const checkpoint::NamedTensor* embedding = checkpoint.find("token_embd.weight");
  if (embedding == nullptr) return base::not_found("tensor 'token_embd.weight' is missing from the checkpoint");
  const int64_t rows = embedding->view.shape.size() == 2 ? embedding->view.shape[0] : 0;
  CS_ASSIGN_OR_RETURN(out.vocab, reader.integer_or(prefix + kGgufKeys.vocab, rows, {1, 1 << 21}));
  out.tied_embeddings = checkpoint.find("output.weight") == nullptr;
  out.attention_bias = checkpoint.find("blk.0.attn_q.bias") != nullptr;
  out.output_bias = checkpoint.find("blk.0.attn_output.bias") != nullptr;
  out.mlp_bias = checkpoint.find("blk.0.ffn_gate.bias") != nullptr;
  CS_RETURN_IF_ERROR(use_rope(read_rope_from_gguf(reader, prefix, checkpoint, out.head_dim, out.context_length), out));
  return clip_to_window(reader, prefix + "attention.sliding_window", out);
}

Status read_json(const Checkpoint& checkpoint, ModelConfig& out) {
  const ConfigReader reader(checkpoint.config(), "config.json: ");
  CS_RETURN_IF_ERROR(refuse_foreign_json(reader));
  CS_RETURN_IF_ERROR(read_sizes(reader, "", kJsonKeys, out));
  CS_ASSIGN_OR_RETURN(out.vocab, reader.integer(kJsonKeys.vocab, {1, 1 << 21}));
  CS_ASSIGN_OR_RETURN(out.tied_embeddings, reader.flag_or("tie_word_embeddings", false));
  CS_ASSIGN_OR_RETURN(out.attention_bias, reader.flag_or("attention_bias", false));
  CS_ASSIGN_OR_RETURN(out.mlp_bias, reader.flag_or("mlp_bias", false));
  out.output_bias = out.attention_bias;
  return use_rope(read_rope_from_json(reader, out.head_dim, out.context_length), out);
}

bool llama_matches(const Checkpoint& checkpoint) {
  const std::string name = architecture(checkpoint);
  return name == "llama" || (name == "mistral" && !is_gguf(checkpoint));
}

Result<ModelConfig> llama_config(const Checkpoint& checkpoint) {
  ModelConfig out{.family = "llama"};
  CS_RETURN_IF_ERROR(is_gguf(checkpoint) ? read_gguf(checkpoint, out) : read_json(checkpoint, out));
  // Converters to GGUF reorder the rows of q and k so that pairs lie side by side.
  if (is_gguf(checkpoint)) out.rope.pairs = ops::RopeParams::Pairs::kInterleaved;
  if (architecture(checkpoint) == "mistral") {
    CS_RETURN_IF_ERROR(clip_to_window(ConfigReader(checkpoint.config(), "config.json: "), "sliding_window", out));
  }
  return out;
}

bool qwen2_matches(const Checkpoint& checkpoint) { return architecture(checkpoint) == "qwen2"; }

Result<ModelConfig> qwen2_config(const Checkpoint& checkpoint) {
  ModelConfig out{.family = "qwen2"};
  CS_RETURN_IF_ERROR(is_gguf(checkpoint) ? read_gguf(checkpoint, out) : read_json(checkpoint, out));
  if (is_gguf(checkpoint)) return out;
  out.attention_bias = true;
  out.output_bias = false;
  const ConfigReader reader(checkpoint.config(), "config.json: ");
  CS_ASSIGN_OR_RETURN(const bool window, reader.flag_or("use_sliding_window", false));
  if (window) CS_RETURN_IF_ERROR(clip_to_window(reader, "sliding_window", out));
  return out;
}

// ---- graph ----

class Builder {
 public:
  Builder(const ModelConfig& config, const Checkpoint& checkpoint)
      : config_(config), checkpoint_(checkpoint), names_(names_of(checkpoint)), weights_(checkpoint, graph_) {}

  Result<graph::Graph> run() {
    const ValueId ids = graph_.add_input("ids", {ops::ValueType::Kind::kIds, {ops::Dim::tokens()}});
    const ValueId rows = graph_.add_input("logit_rows", {ops::ValueType::Kind::kRowIndex, {ops::Dim::logit_rows()}});
    CS_ASSIGN_OR_RETURN(const ValueId table, weights_.matrix(weight_name(names_.embedding), config_.vocab, config_.hidden));
    const ops::EmbeddingDesc embedding{config_.vocab, config_.hidden, graph_.value(table).type.format};
    CS_ASSIGN_OR_RETURN(ValueId x, graph_.add1("embedding", embedding, {ids, table}));
    for (layer_ = 0; layer_ < config_.layers; ++layer_) {
      CS_ASSIGN_OR_RETURN(x, attention_block(x));
      CS_ASSIGN_OR_RETURN(x, mlp_block(x));
    }
    CS_ASSIGN_OR_RETURN(x, graph_.add1("logit_rows", ops::GatherRowsDesc{config_.hidden}, {x, rows}));
    CS_ASSIGN_OR_RETURN(x, norm("norm", names_.norm, x));
    CS_ASSIGN_OR_RETURN(x, head(x));
    graph_.set_outputs({x});
    if (!config_.rope.freq_factors.empty()) weights_.ignore("rope_freqs.weight");
    CS_RETURN_IF_ERROR(weights_.all_used());
    return std::move(graph_);
  }

 private:
  static std::string weight_name(const std::string& stem) { return stem + ".weight"; }
  std::string in_layer(const char* name) const { return format("{}{}.{}", names_.layer, layer_, name); }
  std::string node_name(const char* name) const { return format("layers.{}.{}", layer_, name); }

  Result<ValueId> norm(std::string node, const std::string& stem, ValueId x) {
    CS_ASSIGN_OR_RETURN(const ValueId weight, weights_.vector(weight_name(stem), config_.hidden));
    return graph_.add1(std::move(node), ops::RmsNormDesc{config_.hidden, config_.norm_eps}, {x, weight});
  }

  Result<ValueId> gemm(std::string node, const std::string& stem, int64_t n, int64_t k, bool bias, ValueId x) {
    CS_ASSIGN_OR_RETURN(const ValueId weight, weights_.matrix(weight_name(stem), n, k));
    std::vector<ValueId> inputs = {x, weight};
    if (bias) {
      CS_ASSIGN_OR_RETURN(inputs.emplace_back(), weights_.vector(stem + ".bias", n));
    }
    return graph_.add1(std::move(node), ops::GemmDesc{n, k, graph_.value(weight).type.format, ops::ActivationType::kF32, bias},
                       std::move(inputs));
  }

  Result<ValueId> attention_block(ValueId x) {
    const int64_t q_columns = config_.heads * config_.head_dim, kv_columns = config_.kv_heads * config_.head_dim;
    const ops::KvShape kv{layer_, config_.kv_heads, config_.head_dim};
    const float scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(config_.head_dim)));
    const bool bias = config_.attention_bias;
    CS_ASSIGN_OR_RETURN(const ValueId h, norm(node_name("attention.norm"), in_layer(names_.attention_norm), x));
    CS_ASSIGN_OR_RETURN(ValueId q, gemm(node_name("attention.q"), in_layer(names_.q), q_columns, config_.hidden, bias, h));
    CS_ASSIGN_OR_RETURN(ValueId k, gemm(node_name("attention.k"), in_layer(names_.k), kv_columns, config_.hidden, bias, h));
    CS_ASSIGN_OR_RETURN(const ValueId v, gemm(node_name("attention.v"), in_layer(names_.v), kv_columns, config_.hidden, bias, h));
    CS_ASSIGN_OR_RETURN(q, graph_.add1(node_name("attention.rope_q"), ops::RopeDesc{config_.heads, config_.rope}, {q}));
    CS_ASSIGN_OR_RETURN(k, graph_.add1(node_name("attention.rope_k"), ops::RopeDesc{config_.kv_heads, config_.rope}, {k}));
    CS_ASSIGN_OR_RETURN(const ValueId cache, graph_.add1(node_name("attention.kv_write"), ops::KvWriteDesc{kv}, {k, v}));
    CS_ASSIGN_OR_RETURN(ValueId y,
                        graph_.add1(node_name("attention.attend"), ops::AttentionDesc{config_.heads, kv, scale}, {q, cache}));
    CS_ASSIGN_OR_RETURN(y, gemm(node_name("attention.o"), in_layer(names_.o), config_.hidden, q_columns, config_.output_bias, y));
    return graph_.add1(node_name("attention.add"), ops::AddDesc{config_.hidden}, {x, y});
  }

  Result<ValueId> mlp_block(ValueId x) {
    const int64_t hidden = config_.hidden, columns = config_.intermediate;
    const bool bias = config_.mlp_bias;
    CS_ASSIGN_OR_RETURN(const ValueId h, norm(node_name("mlp.norm"), in_layer(names_.mlp_norm), x));
    CS_ASSIGN_OR_RETURN(ValueId gate, gemm(node_name("mlp.gate"), in_layer(names_.gate), columns, hidden, bias, h));
    CS_ASSIGN_OR_RETURN(const ValueId up, gemm(node_name("mlp.up"), in_layer(names_.up), columns, hidden, bias, h));
    CS_ASSIGN_OR_RETURN(gate, graph_.add1(node_name("mlp.silu"), ops::SiluDesc{columns}, {gate}));
    CS_ASSIGN_OR_RETURN(ValueId y, graph_.add1(node_name("mlp.mul"), ops::MulDesc{columns}, {gate, up}));
    CS_ASSIGN_OR_RETURN(y, gemm(node_name("mlp.down"), in_layer(names_.down), hidden, columns, bias, y));
    return graph_.add1(node_name("mlp.add"), ops::AddDesc{hidden}, {x, y});
  }

  Result<ValueId> head(ValueId x) {
    if (config_.tied_embeddings) CS_RETURN_IF_ERROR(check_tied());
    return gemm("head", config_.tied_embeddings ? names_.embedding : names_.head, config_.vocab, config_.hidden, false, x);
  }

  // A file may store a tied head once more: fine as long as it says the same.
  Status check_tied() {
    const checkpoint::NamedTensor* stored = checkpoint_.find(weight_name(names_.head));
    if (stored == nullptr) return base::ok_status();
    const checkpoint::NamedTensor* table = checkpoint_.find(weight_name(names_.embedding));
    const auto a = stored->view.bytes, b = table->view.bytes;
    const bool same =
        stored->view.format == table->view.format && a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
    if (!same) {
      return base::invalid_argument(
          format("tie_word_embeddings is true, but tensor '{}' differs from '{}'; correct config.json", stored->name, table->name));
    }
    weights_.ignore(stored->name);
    return base::ok_status();
  }

  const ModelConfig& config_;
  const Checkpoint& checkpoint_;
  const Names& names_;
  graph::Graph graph_;
  Weights weights_;
  int64_t layer_ = 0;
};

Result<graph::Graph> build_decoder(const ModelConfig& config, const Checkpoint& checkpoint) {
  return Builder(config, checkpoint).run();
}

}  // namespace

const ModelFamily kLlama = {"llama", llama_matches, llama_config, build_decoder};
const ModelFamily kQwen2 = {"qwen2", qwen2_matches, qwen2_config, build_decoder};

}  // namespace camshaft::models
