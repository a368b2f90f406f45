// The stages of tokenizer.json around the model. What our TokenizerSpec cannot say is refused by its name.
#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/format.h"
#include "checkpoint/tokenizer_json.h"

namespace camshaft::checkpoint {
namespace {

using api::NormalizerKind;
using Step = api::PreTokenizerStep;

constexpr std::string_view kBlankMark = "\xE2\x96\x81";  // U+2581
constexpr size_t kMaxStages = 64;

// What the stages add up to.
struct Facts {
  bool byte_level = false;
  bool blanks_marked = false;  // a blank becomes U+2581
};

Status unsupported(std::string_view stage, std::string_view detail) {
  return base::unimplemented(format("{} '{}' is not supported", stage, detail));
}

Result<std::string> type_of(const Json& stage, std::string_view which) {
  if (!stage.is_object()) return base::data_loss(format("{} is of type {}, an object is expected", which, stage.kind_name()));
  CS_ASSIGN_OR_RETURN(std::string type, string_member(stage, "type", ""));
  if (type.empty()) return base::data_loss(format("{} lacks 'type'", which));
  return type;
}

// A stage, or the members of a Sequence (not nested deeper), in order.
Result<std::vector<const Json*>> flatten(const Json* stage, std::string_view which, std::string_view list) {
  std::vector<const Json*> stages;
  if (stage == nullptr || stage->is_null()) return stages;
  CS_ASSIGN_OR_RETURN(const std::string type, type_of(*stage, which));
  if (type != "Sequence") return std::vector<const Json*>{stage};
  const Json* members = stage->find(list);
  if (members == nullptr || !members->is_array()) return base::data_loss(format("{} 'Sequence' lacks the array '{}'", which, list));
  if (members->as_array().size() > kMaxStages) {
    return base::resource_exhausted(format("{} has {} stages, the limit is {}", which, members->as_array().size(), kMaxStages));
  }
  for (const Json& member : members->as_array()) stages.push_back(&member);
  return stages;
}

struct Pattern {
  std::string text;
  bool literal = false;
};

Result<Pattern> pattern_of(const Json& stage, std::string_view which) {
  const Json* pattern = stage.find("pattern");
  const Json* regex = pattern == nullptr ? nullptr : pattern->find("Regex");
  const Json* literal = pattern == nullptr ? nullptr : pattern->find("String");
  if (regex != nullptr && regex->is_string()) return Pattern{regex->as_string(), false};
  if (literal != nullptr && literal->is_string()) return Pattern{literal->as_string(), true};
  return base::data_loss(format("{} needs a pattern {{\"Regex\": ...}} or {{\"String\": ...}}", which));
}

std::string quote_for_regex(std::string_view literal) {
  std::string out;
  for (const char c : literal) {
    const bool plain = static_cast<unsigned char>(c) >= 0x80 || std::isalnum(static_cast<unsigned char>(c)) != 0 || c == ' ';
    if (!plain) out += '\\';
    out += c;
  }
  return out;
}

Status apply_unicode_form(NormalizerKind kind, api::TokenizerSpec& spec) {
  if (spec.normalizer != NormalizerKind::kNone) return unsupported("normalizer", "Sequence of two Unicode forms");
  spec.normalizer = kind;
  return base::ok_status();
}

Status apply_normalizer(const Json& stage, api::TokenizerSpec& spec, Facts& facts) {
  CS_ASSIGN_OR_RETURN(const std::string type, type_of(stage, "normalizer"));
  if (type == "NFC") return apply_unicode_form(NormalizerKind::kNfc, spec);
  if (type == "NFD") return apply_unicode_form(NormalizerKind::kNfd, spec);
  if (type == "NFKC") return apply_unicode_form(NormalizerKind::kNfkc, spec);
  if (type == "NFKD") return apply_unicode_form(NormalizerKind::kNfkd, spec);
  if (type == "Prepend") {
    CS_ASSIGN_OR_RETURN(const std::string prefix, string_member(stage, "prepend", ""));
    if (prefix != kBlankMark) return unsupported("normalizer", format("Prepend of \"{}\"", prefix));
    spec.add_prefix_space = spec.prefix_space_every_segment = true;
    return base::ok_status();
  }
  if (type == "Replace") {
    CS_ASSIGN_OR_RETURN(const Pattern pattern, pattern_of(stage, "normalizer 'Replace'"));
    CS_ASSIGN_OR_RETURN(const std::string content, string_member(stage, "content", ""));
    if (!pattern.literal || pattern.text != " " || content != kBlankMark) {
      return unsupported("normalizer", format("Replace of \"{}\" by \"{}\"", pattern.text, content));
    }
    facts.blanks_marked = true;
    return base::ok_status();
  }
  return unsupported("normalizer", type);
}

Status apply_split(const Json& stage, api::TokenizerSpec& spec, const Facts& facts) {
  CS_ASSIGN_OR_RETURN(const Pattern pattern, pattern_of(stage, "pre_tokenizer 'Split'"));
  CS_ASSIGN_OR_RETURN(const std::string behavior, string_member(stage, "behavior", ""));
  CS_ASSIGN_OR_RETURN(const bool invert, bool_member(stage, "invert", false));
  // Blanks are gone by then, so nothing is ever cut.
  if (facts.blanks_marked && pattern.literal && pattern.text == " ") return base::ok_status();
  // Inverted and removed: only matches stay. The published patterns match everything, which makes that the same.
  const bool isolated = behavior == "Isolated" || (behavior == "Removed" && invert);
  if (!isolated) return unsupported("pre_tokenizer", format("Split with behavior {}", behavior));
  spec.pre_tokenizer.push_back({Step::Kind::kSplitIsolated, pattern.literal ? quote_for_regex(pattern.text) : pattern.text, true});
  return base::ok_status();
}

Status apply_byte_level(const Json& stage, api::TokenizerSpec& spec, Facts& facts) {
  facts.byte_level = true;
  CS_ASSIGN_OR_RETURN(const bool prefix, bool_member(stage, "add_prefix_space", true));
  CS_ASSIGN_OR_RETURN(const bool use_regex, bool_member(stage, "use_regex", true));
  if (prefix && !spec.pre_tokenizer.empty())
    return unsupported("pre_tokenizer", "ByteLevel with add_prefix_space behind another split");
  if (prefix) spec.add_prefix_space = spec.prefix_space_every_segment = true;
  if (use_regex) spec.pre_tokenizer.push_back({Step::Kind::kByteLevelGpt2, "", true});
  return base::ok_status();
}

Status apply_metaspace(const Json& stage, api::TokenizerSpec& spec, Facts& facts) {
  CS_ASSIGN_OR_RETURN(const std::string replacement, string_member(stage, "replacement", kBlankMark));
  CS_ASSIGN_OR_RETURN(const bool prefix, bool_member(stage, "add_prefix_space", true));
  CS_ASSIGN_OR_RETURN(const std::string scheme, string_member(stage, "prepend_scheme", prefix ? "always" : "never"));
  CS_ASSIGN_OR_RETURN(const bool split, bool_member(stage, "split", true));
  if (replacement != kBlankMark) return unsupported("pre_tokenizer", format("Metaspace with \"{}\"", replacement));
  if (split) return unsupported("pre_tokenizer", "Metaspace that splits");
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    return unsupported("pre_tokenizer", format("Metaspace with prepend_scheme {}", scheme));
  }
  facts.blanks_marked = true;
  spec.add_prefix_space = spec.prefix_space_if_missing = scheme != "never";
  spec.prefix_space_every_segment = scheme == "always";
  return base::ok_status();
}

Status apply_punctuation(const Json& stage, api::TokenizerSpec& spec) {
  CS_ASSIGN_OR_RETURN(const std::string behavior, string_member(stage, "behavior", "Isolated"));
  if (behavior == "Contiguous") {
    spec.pre_tokenizer.push_back({Step::Kind::kPunctuation, "", true});
  } else if (behavior == "Isolated") {
    spec.pre_tokenizer.push_back({Step::Kind::kSplitIsolated, R"([!-/:-@\[-`{-~\p{P}])", true});
  } else {
    return unsupported("pre_tokenizer", format("Punctuation with behavior {}", behavior));
  }
  return base::ok_status();
}

Status apply_pre_tokenizer(const Json& stage, api::TokenizerSpec& spec, Facts& facts) {
  CS_ASSIGN_OR_RETURN(const std::string type, type_of(stage, "pre_tokenizer"));
  if (type == "Split") return apply_split(stage, spec, facts);
  if (type == "ByteLevel") return apply_byte_level(stage, spec, facts);
  if (type == "Metaspace") return apply_metaspace(stage, spec, facts);
  if (type == "Punctuation") return apply_punctuation(stage, spec);
  if (type == "Digits") {
    CS_ASSIGN_OR_RETURN(const bool individual, bool_member(stage, "individual_digits", false));
    spec.pre_tokenizer.push_back({Step::Kind::kDigits, "", individual});
    return base::ok_status();
  }
  return unsupported("pre_tokenizer", type);
}

Status check_decoder(const Json& stage, Facts& facts) {
  constexpr std::string_view kKnown[] = {"Metaspace", "ByteFallback", "Fuse", "Replace", "Strip"};
  CS_ASSIGN_OR_RETURN(const std::string type, type_of(stage, "decoder"));
  if (type == "ByteLevel") {
    facts.byte_level = true;
  } else if (std::find(std::begin(kKnown), std::end(kKnown), type) == std::end(kKnown)) {
    return unsupported("decoder", type);
  }
  return base::ok_status();
}

// One side of a TemplateProcessing: at most one special token, with its id.
struct TemplateEnds {
  std::optional<std::string> before, after;
};

Result<TemplateEnds> template_ends(const Json& stage) {
  const Json* single = stage.find("single");
  if (single == nullptr || !single->is_array())
    return base::data_loss("post_processor 'TemplateProcessing' lacks the array 'single'");
  TemplateEnds ends;
  bool text_seen = false;
  for (const Json& piece : single->as_array()) {
    const Json* special = piece.find("SpecialToken");
    const Json* id = special == nullptr ? nullptr : special->find("id");
    if (special == nullptr) {
      text_seen = true;
      continue;
    }
    if (id == nullptr || !id->is_string()) return base::data_loss("post_processor 'TemplateProcessing': a SpecialToken lacks 'id'");
    std::optional<std::string>& slot = text_seen ? ends.after : ends.before;
    if (slot) return unsupported("post_processor", "TemplateProcessing with two special tokens in a row");
    slot = id->as_string();
  }
  return ends;
}

// `id` becomes the token at that end, if the files have named no other.
Status place_token(const std::string& text, std::string_view role, std::optional<int32_t>& id, bool& add,
                   const api::TokenizerSpec& spec) {
  for (const api::AddedToken& token : spec.added) {
    if (token.content != text) continue;
    if (id && *id != token.id) {
      return base::unimplemented(format("post_processor adds '{}' where the {} token is '{}'; that is not supported", text, role,
                                        spec.tokens[static_cast<size_t>(*id)]));
    }
    id = token.id;
    add = true;
    return base::ok_status();
  }
  return base::data_loss(format("post_processor names the token '{}', which is not among the added tokens", text));
}

}  // namespace

Status read_tokenizer_stages(const Json* normalizer, const Json* pre_tokenizer, const Json* decoder, api::TokenizerSpec& spec) {
  Facts facts;
  CS_ASSIGN_OR_RETURN(const auto normalizers, flatten(normalizer, "normalizer", "normalizers"));
  for (const Json* stage : normalizers) CS_RETURN_IF_ERROR(apply_normalizer(*stage, spec, facts));
  CS_ASSIGN_OR_RETURN(const auto pre_tokenizers, flatten(pre_tokenizer, "pre_tokenizer", "pretokenizers"));
  for (const Json* stage : pre_tokenizers) CS_RETURN_IF_ERROR(apply_pre_tokenizer(*stage, spec, facts));
  CS_ASSIGN_OR_RETURN(const auto decoders, flatten(decoder, "decoder", "decoders"));
  for (const Json* stage : decoders) CS_RETURN_IF_ERROR(check_decoder(*stage, facts));
  if (facts.byte_level == facts.blanks_marked) {
    return unsupported("tokenizer",
                       facts.byte_level ? "both byte-level and SentencePiece-like" : "neither byte-level nor SentencePiece-like");
  }
  spec.model = facts.byte_level ? api::TokenizerModel::kByteLevelBpe : api::TokenizerModel::kSentencePieceBpe;
  if (facts.blanks_marked && !spec.pre_tokenizer.empty()) return unsupported("pre_tokenizer", "a split of SentencePiece-like text");
  return base::ok_status();
}

Status read_post_processor(const Json* post_processor, api::TokenizerSpec& spec) {
  CS_ASSIGN_OR_RETURN(const auto stages, flatten(post_processor, "post_processor", "processors"));
  for (const Json* stage : stages) {
    CS_ASSIGN_OR_RETURN(const std::string type, type_of(*stage, "post_processor"));
    if (type == "ByteLevel") continue;  // only offsets
    if (type != "TemplateProcessing") return unsupported("post_processor", type);
    CS_ASSIGN_OR_RETURN(const TemplateEnds ends, template_ends(*stage));
    if (ends.before) CS_RETURN_IF_ERROR(place_token(*ends.before, "BOS", spec.bos, spec.add_bos, spec));
    if (ends.after) CS_RETURN_IF_ERROR(place_token(*ends.after, "EOS", spec.eos, spec.add_eos, spec));
  }
  return base::ok_status();
}

}  // namespace camshaft::checkpoint
