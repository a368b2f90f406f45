// Configurations and tensor tables that are wrong in one place each, and the sentence each must give. The good ones run in
// tests/golden.
#include <gtest/gtest.h>

#include <functional>

#include "base/format.h"
#include "models/model.h"

namespace camshaft::models {
namespace {

using tensor::Format;

// Two layers of nothing but zeros: hidden 32, heads 4 over 2, MLP 48, vocabulary 64.
class FakeCheckpoint : public checkpoint::Checkpoint {
 public:
  checkpoint::Source kind = checkpoint::Source::kSafetensors;
  Json settings;
  std::vector<checkpoint::NamedTensor> list;

  void add(const std::string& name, tensor::Shape shape, Format stored = Format::kF32) {
    const tensor::TensorView view{stored, shape, {}};
    const auto bytes = static_cast<size_t>(view.rows() * view.row_bytes());
    list.push_back({name, {stored, shape, std::span(zeros_).first(bytes)}});
  }
  checkpoint::NamedTensor& at(std::string_view name) { return *const_cast<checkpoint::NamedTensor*>(find(name)); }

  checkpoint::Source source() const override { return kind; }
  const std::vector<checkpoint::NamedTensor>& tensors() const override { return list; }
  const checkpoint::NamedTensor* find(std::string_view name) const override {
    for (const auto& tensor : list) {
      if (tensor.name == name) return &tensor;
    }
    return nullptr;
  }
  const Json& config() const override { return settings; }
  const std::string& name() const override { return name_; }
  Result<api::TokenizerSpec> tokenizer() const override { return base::not_found("none"); }
  Result<api::PromptSpec> prompt() const override { return base::not_found("none"); }
  base::Hash128 content_hash() const override { return {}; }
  void drop_pages(const checkpoint::NamedTensor&) const override {}

 private:
  std::string name_ = "fake";
  std::vector<std::byte> zeros_ = std::vector<std::byte>(64 * 64 * 4);
};

void add_layers(FakeCheckpoint& out, const std::string& prefix, const std::vector<std::pair<const char*, tensor::Shape>>& shapes) {
  for (int layer = 0; layer < 2; ++layer) {
    for (const auto& [name, shape] : shapes) out.add(format("{}{}.{}.weight", prefix, layer, name), shape);
  }
}

FakeCheckpoint json_model() {
  FakeCheckpoint out;
  out.settings = *base::parse_json(R"({"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 64, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
    "tie_word_embeddings": true, "hidden_act": "silu", "rope_scaling": null})");
  out.add("model.embed_tokens.weight", {64, 32});
  out.add("model.norm.weight", {32}, Format::kBF16);
  add_layers(out, "model.layers.",
             {{"input_layernorm", {32}},
              {"self_attn.q_proj", {32, 32}},
              {"self_attn.k_proj", {16, 32}},
              {"self_attn.v_proj", {16, 32}},
              {"self_attn.o_proj", {32, 32}},
              {"post_attention_layernorm", {32}},
              {"mlp.gate_proj", {48, 32}},
              {"mlp.up_proj", {48, 32}},
              {"mlp.down_proj", {32, 48}}});
  return out;
}

FakeCheckpoint gguf_model() {
  FakeCheckpoint out;
  out.kind = checkpoint::Source::kGguf;
  out.settings = *base::parse_json(R"({"general.architecture": "llama", "llama.block_count": 2, "llama.context_length": 128,
    "llama.embedding_length": 32, "llama.feed_forward_length": 48, "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2, "llama.attention.layer_norm_rms_epsilon": 1e-5})");
  out.add("token_embd.weight", {64, 32});
  out.add("output_norm.weight", {32});
  add_layers(out, "blk.",
             {{"attn_norm", {32}},
              {"attn_q", {32, 32}},
              {"attn_k", {16, 32}},
              {"attn_v", {16, 32}},
              {"attn_output", {32, 32}},
              {"ffn_norm", {32}},
              {"ffn_gate", {48, 32}},
              {"ffn_up", {48, 32}},
              {"ffn_down", {32, 48}}});
  return out;
}

// The error of config or build; empty where both go well.
std::string outcome(const FakeCheckpoint& checkpoint) {
  const auto family = find_family(checkpoint);
  if (!family.ok()) return family.status().message();
  const auto config = (*family)->config(checkpoint);
  if (!config.ok()) return config.status().message();
  const auto graph = (*family)->build(*config, checkpoint);
  return graph.ok() ? graph::verify(*graph).message() : graph.status().message();
}

struct Case {
  std::function<void(FakeCheckpoint&)> spoil;
  const char* message;
};

auto set(const char* key, Json value) {
  return [=](FakeCheckpoint& c) { c.settings.set(key, value); };
}
auto scaling(const char* json) {
  return [=](FakeCheckpoint& c) { c.settings.set("rope_scaling", *base::parse_json(json)); };
}

TEST(Llama, GoodModels) {
  EXPECT_EQ(outcome(json_model()), "");
  EXPECT_EQ(outcome(gguf_model()), "");
}

TEST(Llama, JsonRefusals) {
  const std::vector<Case> cases = {
      {set("model_type", "gpt_oss"), "fake says model_type 'gpt_oss'; the families that can be built are: llama, qwen2"},
      {set("model_type", nullptr), "fake says no model_type; the families that can be built are: llama, qwen2"},
      {set("hidden_size", nullptr), "config.json: hidden_size is missing; without it the model cannot be built"},
      {set("hidden_size", "32"), "config.json: hidden_size is of kind string, expected integer"},
      {set("hidden_size", 32.0), "config.json: hidden_size is of kind number, expected integer"},
      {set("num_hidden_layers", 0), "config.json: num_hidden_layers=0 is out of range; 1 to 1024 is allowed"},
      {set("num_hidden_layers", -1), "config.json: num_hidden_layers=-1 is out of range; 1 to 1024 is allowed"},
      {set("vocab_size", uint64_t{1} << 63),
       "config.json: vocab_size=9223372036854775808 is out of range; 1 to 2097152 is allowed"},
      {set("num_key_value_heads", 3), "config.json: num_attention_heads=4 is not a multiple of num_key_value_heads=3"},
      {set("hidden_size", 34), "config.json: hidden_size=34 is not a multiple of num_attention_heads=4, and head_dim is missing"},
      {set("rms_norm_eps", 0.5), "config.json: rms_norm_eps=0.5 is out of range; below 0.1 is allowed"},
      {set("hidden_act", "gelu"), "config.json: hidden_act='gelu' is not supported, only 'silu'"},
      {set("quantization_config", Json(base::JsonObject{})),
       "config.json: quantization_config is set; only checkpoints with plain weights are supported"},
      {set("tie_word_embeddings", 1), "config.json: tie_word_embeddings is of kind integer, expected boolean"},
      {set("tie_word_embeddings", false), "tensor 'lm_head.weight' [64, 32] is missing from the checkpoint"},
      {set("rope_theta", -1), "config.json: rope_theta=-1 is not a positive number"},
      {set("rope_scaling", 4), "config.json: rope_scaling is of kind integer, expected object"},
      {scaling(R"({"type": "su"})"),
       "config.json: rope_scaling.rope_type='su' is not supported; default, linear, llama3, yarn and dynamic are"},
      {scaling(R"({"type": "linear"})"), "config.json: rope_scaling.factor is missing; without it the model cannot be built"},
      {scaling(R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 1,
                   "original_max_position_embeddings": 64})"),
       "config.json: rope_scaling.high_freq_factor=1 is not above low_freq_factor=4"},
      {set("attention_bias", true), "tensor 'model.layers.0.self_attn.q_proj.bias' [32] is missing from the checkpoint"},
      {set("intermediate_size", 47),
       "tensor 'model.layers.0.mlp.gate_proj.weight' is [48, 32], expected [47, 32] by the configuration"},
      {set("num_hidden_layers", 1),
       "tensor 'model.layers.1.input_layernorm.weight' [32] has no place in this model family; the checkpoint is of another kind "
       "than "
       "its configuration says"},
      {[](FakeCheckpoint& c) { c.at("model.layers.1.mlp.up_proj.weight").view.format = Format::kI8; },
       "tensor 'model.layers.1.mlp.up_proj.weight' is stored as i8; weights may be f32, f16, bf16, f8 or a GGUF block format"},
      {[](FakeCheckpoint& c) {
         c.add("lm_head.weight", {64, 32});
       },
       ""},
      {[](FakeCheckpoint& c) {
         c.add("lm_head.weight", {64, 32}, Format::kF16);
       },
       "tie_word_embeddings is true, but tensor 'lm_head.weight' differs from 'model.embed_tokens.weight'; correct config.json"},
      {[](FakeCheckpoint& c) { c.add("model.layers.0.self_attn.rotary_emb.inv_freq", {4}); }, ""},
  };
  for (const Case& c : cases) {
    FakeCheckpoint model = json_model();
    c.spoil(model);
    EXPECT_EQ(outcome(model), c.message);
  }
}

TEST(Llama, GgufRefusals) {
  const std::vector<Case> cases = {
      {set("general.architecture", "mamba"),
       "fake says general.architecture 'mamba'; the families that can be built are: llama, qwen2"},
      {set("llama.expert_count", 8), "GGUF: llama.expert_count is set; models with it are not supported"},
      {set("llama.expert_count", 0), ""},
      {set("llama.attention.layer_norm_rms_epsilon", nullptr),
       "GGUF: llama.attention.layer_norm_rms_epsilon is missing; without it the model cannot be built"},
      {set("llama.attention.head_count_kv", 3),
       "GGUF: llama.attention.head_count=4 is not a multiple of llama.attention.head_count_kv=3"},
      {set("llama.attention.value_length", 16), "GGUF: llama.attention.value_length=16 differs from the keys' 8"},
      {set("llama.rope.dimension_count", 7), "GGUF: llama.rope.dimension_count=7 is odd; pairs turn together"},
      {set("llama.rope.scaling.type", "longrope"),
       "GGUF: llama.rope.scaling.type='longrope' is not supported; none, linear and yarn are"},
      {set("llama.vocab_size", 65), "tensor 'token_embd.weight' is [64, 32], expected [65, 32] by the configuration"},
      {[](FakeCheckpoint& c) { c.list.erase(c.list.begin()); }, "tensor 'token_embd.weight' is missing from the checkpoint"},
      {[](FakeCheckpoint& c) { c.add("rope_freqs.weight", {3}); }, "tensor 'rope_freqs.weight' is f32 [3], expected f32 [4]"},
      {[](FakeCheckpoint& c) { c.add("rope_freqs.weight", {4}); },
       "tensor 'rope_freqs.weight' holds 0; only positive factors divide frequencies"},
      {[](FakeCheckpoint& c) {
         c.add("blk.0.ffn_gate_inp.weight", {8, 32});
       },
       "tensor 'blk.0.ffn_gate_inp.weight' [8, 32] has no place in this model family; the checkpoint is of another kind than its "
       "configuration says"},
  };
  for (const Case& c : cases) {
    FakeCheckpoint model = gguf_model();
    c.spoil(model);
    EXPECT_EQ(outcome(model), c.message);
  }
}

TEST(Llama, ConfigurationIsMapped) {
  FakeCheckpoint model = json_model();
  scaling(R"({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 64})")(model);
  const auto config = model_families()[0].config(model);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->head_dim, 8);
  EXPECT_EQ(config->context_length, 256);  // 64 * 4
  EXPECT_EQ(config->rope.pairs, ops::RopeParams::Pairs::kHalves);
  EXPECT_NEAR(config->rope.attention_factor, 1.1386294361, 1e-9);

  model = json_model();
  set("model_type", "mistral")(model);
  set("sliding_window", 16)(model);
  EXPECT_EQ(model_families()[0].config(model)->context_length, 16);

  const auto gguf = model_families()[0].config(gguf_model());
  EXPECT_TRUE(gguf->tied_embeddings);
  EXPECT_EQ(gguf->vocab, 64);
  EXPECT_EQ(gguf->rope.pairs, ops::RopeParams::Pairs::kInterleaved);
}

// Norms are f32 for kernels, matrices stay as stored; only wanted rows reach the last norm and the head.
TEST(Llama, GraphKeepsFormatsAndGathersBeforeTheHead) {
  FakeCheckpoint model = json_model();
  model.at("model.layers.0.mlp.up_proj.weight").view.format = Format::kBF16;
  model.at("model.layers.0.mlp.up_proj.weight").view.bytes =
      model.at("model.layers.0.mlp.up_proj.weight").view.bytes.first(48 * 32 * 2);
  const auto config = model_families()[0].config(model);
  const auto graph = model_families()[0].build(*config, model);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  const std::string text = graph::print(*graph);
  for (const char* line :
       {"const model.norm.weight : weight f32 [32]\n", "weight=bf16 activation=f32 : f32 [T, 48]  # layers.0.mlp.up\n",
        " : f32 [R, 32]  # norm\n", " : f32 [R, 64]  # head\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

}  // namespace
}  // namespace camshaft::models
