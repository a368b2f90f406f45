// One function a struct, naming its fields in file order. Adding, removing or reordering a field raises kFormatVersion.
#include "engine/sections.h"

#include "engine/archive.h"

namespace camshaft::engine {

inline constexpr uint8_t enum_limit(const ArchiveReader&, api::TokenizerModel) { return 2; }
inline constexpr uint8_t enum_limit(const ArchiveReader&, api::TokenKind) { return 6; }
inline constexpr uint8_t enum_limit(const ArchiveReader&, api::PreTokenizerStep::Kind) {
  return static_cast<uint8_t>(api::PreTokenizerStep::Kind::kPunctuation) + 1;
}
inline constexpr uint8_t enum_limit(const ArchiveReader&, api::NormalizerKind) { return 5; }
inline uint8_t enum_limit(const ArchiveReader&, tensor::Format) { return static_cast<uint8_t>(tensor::all_formats().size()); }
inline constexpr uint8_t enum_limit(const ArchiveReader&, ops::Symbol) { return 3; }
inline constexpr uint8_t enum_limit(const ArchiveReader&, ops::KvLayout::KeyOrder) { return 2; }
inline constexpr uint8_t enum_limit(const ArchiveReader&, ops::RopeParams::Pairs) { return 2; }
inline constexpr uint8_t enum_limit(const ArchiveReader&, ops::RopeParams::Scaling) { return 5; }
inline constexpr uint8_t enum_limit(const ArchiveReader&, Operand::Place) { return 6; }

template <typename Archive>
void fields(Archive& a, Fingerprint& v) {
  a("target", v.target);
  a("isa", v.isa);
  a("features", v.features);
  a("builder_version", v.builder_version);
  a("source_hash", v.source_hash);
  a("options", v.options);
}

template <typename Archive>
void fields(Archive& a, ModelInfo& v) {
  a("name", v.name);
  a("family", v.family);
  a("precision", v.precision);
  a("parameters", v.parameters);
  a("layers", v.layers);
  a("hidden", v.hidden);
}

template <typename Archive>
void fields(Archive& a, api::AddedToken& v) {
  a("id", v.id);
  a("content", v.content);
  a("special", v.special);
  a("lstrip", v.lstrip);
  a("rstrip", v.rstrip);
  a("single_word", v.single_word);
  a("normalized", v.normalized);
}

template <typename Archive>
void fields(Archive& a, api::PreTokenizerStep& v) {
  a("kind", v.kind);
  a("pattern", v.pattern);
  a("individual", v.individual);
}

template <typename Archive>
void fields(Archive& a, api::TokenizerSpec& v) {
  a("model", v.model);
  a("tokens", v.tokens);
  a("kinds", v.kinds);
  a("scores", v.scores);
  a("merges", v.merges);
  a("added", v.added);
  a("normalizer", v.normalizer);
  a("pre_tokenizer", v.pre_tokenizer);
  a("add_prefix_space", v.add_prefix_space);
  a("prefix_space_every_segment", v.prefix_space_every_segment);
  a("prefix_space_if_missing", v.prefix_space_if_missing);
  a("byte_fallback", v.byte_fallback);
  a("ignore_merges", v.ignore_merges);
  a("collapse_spaces", v.collapse_spaces);
  a("bos", v.bos);
  a("eos", v.eos);
  a("unk", v.unk);
  a("pad", v.pad);
  a("add_bos", v.add_bos);
  a("add_eos", v.add_eos);
  a("end_ids", v.end_ids);
}

template <typename Archive>
void fields(Archive& a, api::PromptSpec& v) {
  a("chat_template", v.chat_template);
  a("named_templates", v.named_templates);
  a("bos_token", v.bos_token);
  a("eos_token", v.eos_token);
  a("special_tokens", v.special_tokens);
  a("temperature", v.temperature);
  a("top_p", v.top_p);
  a("min_p", v.min_p);
  a("repetition_penalty", v.repetition_penalty);
  a("top_k", v.top_k);
}

template <typename Archive>
void fields(Archive& a, ops::RopeParams& v) {
  a("pairs", v.pairs);
  a("head_dim", v.head_dim);
  a("rotary_dim", v.rotary_dim);
  a("theta", v.theta);
  a("scaling", v.scaling);
  a("factor", v.factor);
  a("low_freq_factor", v.low_freq_factor);
  a("high_freq_factor", v.high_freq_factor);
  a("original_context", v.original_context);
  a("beta_fast", v.beta_fast);
  a("beta_slow", v.beta_slow);
  a("attention_factor", v.attention_factor);
  a("freq_factors", v.freq_factors);
}

template <typename Archive>
void fields(Archive& a, ops::KvLayout& v) {
  a("format", v.format);
  a("key_order", v.key_order);
  a("layers", v.layers);
  a("kv_heads", v.kv_heads);
  a("head_dim", v.head_dim);
}

template <typename Archive>
void fields(Archive& a, ShapeBucket& v) {
  a("max_rows", v.max_rows);
}

template <typename Archive>
void fields(Archive& a, Operand& v) {
  a("place", v.place);
  a("offset", v.offset);
  a("stride", v.stride);
  a("constant", v.constant);
}

// A description travels as its text: one definition of it, and readable in a dump.
void desc_field(ArchiveWriter& a, ops::OpDesc& desc) {
  std::string kind(ops::op_name(ops::op_kind(desc)));
  std::string text = ops::desc_text(desc);
  a("op", kind);
  a("desc", text);
}

void desc_field(ArchiveReader& a, ops::OpDesc& desc) {
  std::string kind, text;
  a("op", kind);
  a("desc", text);
  if (!a.ok()) return;
  Result<ops::OpKind> op = ops::parse_op(kind);
  if (!op.ok()) return a.fail(std::move(op).status());
  Result<ops::OpDesc> parsed = ops::parse_desc(*op, text);
  if (!parsed.ok()) return a.fail(std::move(parsed).status());
  desc = std::move(*parsed);
}

template <typename Archive>
void fields(Archive& a, Step& v) {
  a("step", v.name);
  desc_field(a, v.desc);
  a("rows", v.rows);
  a("kernel", v.kernel);
  a("tactics", v.tactics);
  a("inputs", v.inputs);
  a("outputs", v.outputs);
  a("workspace_offset", v.workspace_offset);
  a("note", v.note);
  a("refused", v.refused);
}

template <typename Archive>
void fields(Archive& a, ConstantEntry& v) {
  a("constant", v.name);
  a("layout", v.layout);
  a("format", v.format);
  a("n", v.n);
  a("k", v.k);
  a("offset", v.offset);
  a("bytes", v.bytes);
}

template <typename Archive>
void fields(Archive& a, PassRecord& v) {
  a("pass", v.name);
  a("enabled", v.enabled);
  a("changes", v.changes);
  a("nodes_after", v.nodes_after);
}

template <typename Archive>
void fields(Archive& a, Plan& v) {
  a("buckets", v.buckets);
  a("steps", v.steps);
  a("constants", v.constants);
  a("passes", v.passes);
  a("kv", v.kv);
  a("rope", v.rope);
  a("arena_bytes", v.arena_bytes);
  a("max_batch_tokens", v.max_batch_tokens);
  a("max_logit_rows", v.max_logit_rows);
  a("max_workers", v.max_workers);
  a("vocab", v.vocab);
  a("context_length", v.context_length);
}

// The info section holds two structs.
struct Info {
  Fingerprint& fingerprint;
  ModelInfo& model;
};
template <typename Archive>
void fields(Archive& a, Info& v) {
  a("fingerprint", v.fingerprint);
  a("model", v.model);
}

namespace {

template <typename T>
std::vector<std::byte> write_fields(T value) {
  ArchiveWriter writer;
  fields(writer, value);
  return writer.take();
}

template <typename T>
Status read_fields(std::span<const std::byte> bytes, std::string_view what, T&& value) {
  ArchiveReader reader(bytes, what);
  fields(reader, value);
  return reader.finish();
}

constexpr SmallSection kSections[] = {
    {"info",
     [](EngineMeta& m) {
       return write_fields(Info{m.fingerprint, m.model});
     },
     [](std::span<const std::byte> b, EngineMeta& m) {
       return read_fields(b, "section 'info'", Info{m.fingerprint, m.model});
     }},
    {"plan", [](EngineMeta& m) { return write_fields(m.plan); },
     [](std::span<const std::byte> b, EngineMeta& m) { return read_fields(b, "section 'plan'", m.plan); }},
    {"tokenizer", [](EngineMeta& m) { return write_fields(m.tokenizer); },
     [](std::span<const std::byte> b, EngineMeta& m) { return read_fields(b, "section 'tokenizer'", m.tokenizer); }},
    {"prompt", [](EngineMeta& m) { return write_fields(m.prompt); },
     [](std::span<const std::byte> b, EngineMeta& m) { return read_fields(b, "section 'prompt'", m.prompt); }},
};

}  // namespace

std::span<const SmallSection> small_sections() { return kSections; }

}  // namespace camshaft::engine
