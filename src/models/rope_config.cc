// Maps the spellings of rope scaling onto ops::RopeParams. YaRN's attention factor defaults to 0.1 ln(factor) + 1 (arXiv
// 2309.00071, section 3.4); GGUF's yarn multiplies its own factor with that.
#include "models/rope_config.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"

namespace camshaft::models {
namespace {

using Scaling = ops::RopeParams::Scaling;
constexpr IntLimits kContext = {1, int64_t{1} << 24};

double yarn_magnitude(double factor, double weight = 1) { return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1; }

Status read_llama3(const ConfigReader& config, ops::RopeParams& rope) {
  rope.scaling = Scaling::kLlama3;
  CS_ASSIGN_OR_RETURN(rope.factor, config.positive("factor"));
  CS_ASSIGN_OR_RETURN(rope.low_freq_factor, config.positive("low_freq_factor"));
  CS_ASSIGN_OR_RETURN(rope.high_freq_factor, config.positive("high_freq_factor"));
  CS_ASSIGN_OR_RETURN(rope.original_context, config.integer("original_max_position_embeddings", kContext));
  if (rope.high_freq_factor > rope.low_freq_factor) return base::ok_status();
  return base::invalid_argument(format("{}={} is not above low_freq_factor={}", config.name_of("high_freq_factor"),
                                       rope.high_freq_factor, rope.low_freq_factor));
}

Status read_yarn(const ConfigReader& config, RopeSettings& out) {
  ops::RopeParams& rope = out.rope;
  rope.scaling = Scaling::kYarn;
  CS_ASSIGN_OR_RETURN(rope.original_context, config.integer_or("original_max_position_embeddings", out.context_length, kContext));
  const double ratio = static_cast<double>(out.context_length) / static_cast<double>(rope.original_context);
  CS_ASSIGN_OR_RETURN(rope.factor, config.positive_or("factor", ratio));
  CS_ASSIGN_OR_RETURN(rope.beta_fast, config.positive_or("beta_fast", 32));
  CS_ASSIGN_OR_RETURN(rope.beta_slow, config.positive_or("beta_slow", 1));
  double magnitude = yarn_magnitude(rope.factor);
  if (config.has("mscale") && config.has("mscale_all_dim")) {
    CS_ASSIGN_OR_RETURN(const double some, config.positive("mscale"));
    CS_ASSIGN_OR_RETURN(const double all, config.positive("mscale_all_dim"));
    magnitude = yarn_magnitude(rope.factor, some) / yarn_magnitude(rope.factor, all);
  }
  CS_ASSIGN_OR_RETURN(rope.attention_factor, config.positive_or("attention_factor", magnitude));
  CS_ASSIGN_OR_RETURN(const bool truncate, config.flag_or("truncate", true));
  if (!truncate)
    return base::unimplemented(
        format("{}=false is not supported: the ramp's ends are whole pairs here", config.name_of("truncate")));
  // A file may name the length it was trained on and the factor, and leave the product to the reader.
  const double stretched = static_cast<double>(rope.original_context) * rope.factor;
  if (config.has("original_max_position_embeddings") && stretched < static_cast<double>(kContext.max)) {
    out.context_length = std::max(out.context_length, static_cast<int64_t>(stretched));
  }
  return base::ok_status();
}

Status read_scaling(const ConfigReader& config, RopeSettings& out) {
  CS_ASSIGN_OR_RETURN(const std::string old_key, config.text_or("type", "default"));
  CS_ASSIGN_OR_RETURN(const std::string type, config.text_or("rope_type", old_key));
  ops::RopeParams& rope = out.rope;
  if (type == "default") return base::ok_status();
  if (type == "llama3") return read_llama3(config, rope);
  if (type == "yarn") return read_yarn(config, out);
  if (type != "linear" && type != "dynamic") {
    return base::unimplemented(
        format("{}='{}' is not supported; default, linear, llama3, yarn and dynamic are", config.name_of("rope_type"), type));
  }
  rope.scaling = type == "linear" ? Scaling::kLinear : Scaling::kDynamicNtk;
  CS_ASSIGN_OR_RETURN(rope.factor, config.positive("factor"));
  CS_ASSIGN_OR_RETURN(rope.original_context, config.integer_or("original_max_position_embeddings", out.context_length, kContext));
  return base::ok_status();
}

// The part of each head that turns: head_dim * partial_rotary_factor.
Status read_rotary_dim(const ConfigReader& config, ops::RopeParams& rope) {
  CS_ASSIGN_OR_RETURN(const double part, config.positive_or("partial_rotary_factor", 1.0));
  const double wanted = static_cast<double>(rope.head_dim) * part;
  rope.rotary_dim = wanted <= static_cast<double>(rope.head_dim) ? static_cast<int64_t>(wanted) : 0;
  if (rope.rotary_dim >= 2 && rope.rotary_dim % 2 == 0) return base::ok_status();
  return base::invalid_argument(format("{}={} of head_dim={} is not an even number of columns",
                                       config.name_of("partial_rotary_factor"), part, rope.head_dim));
}

Status read_gguf_scaling(const ConfigReader& config, const std::string& prefix, RopeSettings& out) {
  ops::RopeParams& rope = out.rope;
  CS_ASSIGN_OR_RETURN(const double old_key, config.positive_or(prefix + "rope.scale_linear", 1.0));
  CS_ASSIGN_OR_RETURN(const std::string type, config.text_or(prefix + "rope.scaling.type", old_key == 1.0 ? "none" : "linear"));
  CS_ASSIGN_OR_RETURN(rope.factor, config.positive_or(prefix + "rope.scaling.factor", old_key));
  if (type == "none") {
    rope.factor = 1;
    return base::ok_status();
  }
  if (type != "linear" && type != "yarn") {
    return base::unimplemented(
        format("{}='{}' is not supported; none, linear and yarn are", config.name_of(prefix + "rope.scaling.type"), type));
  }
  rope.scaling = type == "linear" ? Scaling::kLinear : Scaling::kYarn;
  if (type == "linear") return base::ok_status();
  CS_ASSIGN_OR_RETURN(rope.original_context,
                      config.integer_or(prefix + "rope.scaling.original_context_length", out.context_length, kContext));
  CS_ASSIGN_OR_RETURN(rope.beta_fast, config.positive_or(prefix + "rope.scaling.yarn_beta_fast", 32));
  CS_ASSIGN_OR_RETURN(rope.beta_slow, config.positive_or(prefix + "rope.scaling.yarn_beta_slow", 1));
  CS_ASSIGN_OR_RETURN(const double own, config.positive_or(prefix + "rope.scaling.attn_factor", 1.0));
  rope.attention_factor = own * yarn_magnitude(rope.factor);
  return base::ok_status();
}

Status read_freq_factors(const checkpoint::Checkpoint& checkpoint, ops::RopeParams& rope) {
  const checkpoint::NamedTensor* tensor = checkpoint.find("rope_freqs.weight");
  if (tensor == nullptr) return base::ok_status();
  const tensor::Shape expected = {rope.rotary_dim / 2};
  if (tensor->view.shape != expected || tensor->view.format != tensor::Format::kF32) {
    return base::invalid_argument(format("tensor 'rope_freqs.weight' is {} {}, expected f32 {}",
                                         tensor::format_info(tensor->view.format).name, tensor::shape_text(tensor->view.shape),
                                         tensor::shape_text(expected)));
  }
  rope.freq_factors.resize(static_cast<size_t>(expected[0]));
  tensor->view.unpack_row(0, rope.freq_factors.data());
  for (const float factor : rope.freq_factors) {
    if (!(factor > 0) || !std::isfinite(factor)) {
      return base::invalid_argument(
          format("tensor 'rope_freqs.weight' holds {}; only positive factors divide frequencies", factor));
    }
  }
  return base::ok_status();
}

}  // namespace

Result<RopeSettings> read_rope_from_json(const ConfigReader& config, int64_t head_dim, int64_t context_length) {
  RopeSettings out{{.pairs = ops::RopeParams::Pairs::kHalves, .head_dim = head_dim, .rotary_dim = head_dim}, context_length};
  CS_ASSIGN_OR_RETURN(out.rope.theta, config.positive_or("rope_theta", 10000.0));
  CS_RETURN_IF_ERROR(read_rotary_dim(config, out.rope));
  CS_ASSIGN_OR_RETURN(auto parameters, config.member("rope_parameters"));
  CS_ASSIGN_OR_RETURN(auto scaling, config.member("rope_scaling"));
  if (parameters) {
    CS_ASSIGN_OR_RETURN(out.rope.theta, parameters->positive_or("rope_theta", out.rope.theta));
    if (parameters->has("partial_rotary_factor")) CS_RETURN_IF_ERROR(read_rotary_dim(*parameters, out.rope));
  }
  const auto& source = scaling ? scaling : parameters;
  if (source) CS_RETURN_IF_ERROR(read_scaling(*source, out));
  return out;
}

Result<RopeSettings> read_rope_from_gguf(const ConfigReader& config, std::string_view prefix,
                                         const checkpoint::Checkpoint& checkpoint, int64_t head_dim, int64_t context_length) {
  RopeSettings out{{.head_dim = head_dim}, context_length};
  const std::string keys(prefix);
  CS_ASSIGN_OR_RETURN(out.rope.theta, config.positive_or(keys + "rope.freq_base", 10000.0));
  CS_ASSIGN_OR_RETURN(out.rope.rotary_dim, config.integer_or(keys + "rope.dimension_count", head_dim, {2, head_dim}));
  if (out.rope.rotary_dim % 2 != 0) {
    return base::invalid_argument(
        format("{}={} is odd; pairs turn together", config.name_of(keys + "rope.dimension_count"), out.rope.rotary_dim));
  }
  CS_RETURN_IF_ERROR(read_gguf_scaling(config, keys, out));
  CS_RETURN_IF_ERROR(read_freq_factors(checkpoint, out.rope));
  return out;
}

}  // namespace camshaft::models
