// Tokenizer: added tokens out of the text first, then normal form, prefix, pre-tokenizer and merging for what lies between.
#include "text/tokenizer.h"

#include <variant>

#include "base/format.h"
#include "base/utf8.h"
#include "text/bpe_byte_level.h"
#include "text/bpe_sentencepiece.h"
#include "text/detokenizer.h"
#include "text/tokenizer_added.h"
#include "text/tokenizer_tokens.h"
#include "text/unicode.h"

namespace camshaft::text {

namespace {

using Model = std::variant<ByteLevelModel, SentencePieceModel>;

std::vector<const api::AddedToken*> select(const std::vector<api::AddedToken>& added, bool normalized) {
  std::vector<const api::AddedToken*> tokens;
  for (const api::AddedToken& token : added) {
    // A control token is matched in the text as it came, so that it is known which span it stands in.
    if ((token.normalized && !token.special) == normalized) tokens.push_back(&token);
  }
  return tokens;
}

std::vector<api::AddedToken> in_normal_form(std::vector<api::AddedToken> added, api::NormalizerKind kind) {
  for (api::AddedToken& token : added) {
    if (token.normalized && !token.special) token.content = normalize(token.content, kind);
  }
  return added;
}

Result<Model> make_model(const api::TokenizerSpec& spec, const std::vector<std::string>& token_bytes) {
  if (spec.model == api::TokenizerModel::kByteLevelBpe) {
    CS_ASSIGN_OR_RETURN(ByteLevelModel model, ByteLevelModel::make(spec, token_bytes));
    return Model(std::move(model));
  }
  CS_ASSIGN_OR_RETURN(SentencePieceModel model, SentencePieceModel::make(spec));
  return Model(std::move(model));
}

}  // namespace

struct Tokenizer::Impl {
  api::TokenizerSpec spec;
  std::vector<std::string> token_bytes;  // by id
  std::vector<bool> control, end;        // by id
  std::vector<api::AddedToken> added;    // contents as the matchers want them
  AddedMatcher raw, normalized;          // on the text as it came; on its normal form
  Model model;

  Impl(api::TokenizerSpec s, std::vector<std::string> bytes, Model m)
      : spec(std::move(s)),
        token_bytes(std::move(bytes)),
        control(spec.tokens.size()),
        end(spec.tokens.size()),
        added(in_normal_form(spec.added, spec.normalizer)),
        raw(select(added, false)),
        normalized(select(added, true)),
        model(std::move(m)) {
    for (size_t id = 0; id < control.size(); ++id) control[id] = spec.kinds[id] == api::TokenKind::kControl;
    for (const api::AddedToken& token : spec.added) {
      if (token.special) control[static_cast<size_t>(token.id)] = true;
    }
    for (const int32_t id : spec.end_ids) end[static_cast<size_t>(id)] = true;
  }

  Result<std::vector<int32_t>> encode(std::string_view text, SpecialAdding adding, const ControlRanges& control_ranges) const;
};

namespace {

// One call of encode: the ids so far and the working memory.
template <typename AnyModel>
class Encoding {
 public:
  Encoding(const api::TokenizerSpec& spec, const AnyModel& model, std::vector<int32_t>& out)
      : spec_(spec), model_(model), scratch_(model), out_(out) {}

  // Cuts `text` at the matches and gives what lies between to `between`.
  template <typename Between>
  Status split(const AddedMatcher& matcher, std::string_view text, const ControlRanges& control, Between between) {
    size_t from = 0;
    while (from < text.size()) {
      const AddedMatcher::Match match = matcher.find(text, from, control);
      CS_RETURN_IF_ERROR(between(text.substr(from, match.begin - from)));
      if (match.id < 0) break;
      out_.push_back(match.id);
      at_start_ = false;
      from = match.end;
    }
    return base::ok_status();
  }

  Status model_text(std::string_view text) {
    using Prefix = typename AnyModel::Prefix;
    if (text.empty()) return base::ok_status();
    const bool prefix = spec_.add_prefix_space && (at_start_ || spec_.prefix_space_every_segment);
    at_start_ = false;
    return model_.encode(text, prefix ? Prefix::kYes : Prefix::kNo, scratch_, out_);
  }

  Status run(const AddedMatcher& raw, const AddedMatcher& normalized, std::string_view text, const ControlRanges& control) {
    const auto in_normal_form = [&](std::string_view segment) {
      return split(normalized, segment, ControlRanges(), [&](std::string_view rest) { return model_text(rest); });
    };
    return split(raw, text, control, [&](std::string_view segment) {
      if (spec_.normalizer == api::NormalizerKind::kNone) return in_normal_form(segment);
      return in_normal_form(normalize(segment, spec_.normalizer));
    });
  }

 private:
  const api::TokenizerSpec& spec_;
  const AnyModel& model_;
  typename AnyModel::Scratch scratch_;
  std::vector<int32_t>& out_;
  bool at_start_ = true;
};

}  // namespace

Result<std::vector<int32_t>> Tokenizer::Impl::encode(std::string_view text, SpecialAdding adding,
                                                     const ControlRanges& control_ranges) const {
  const size_t valid = base::utf8_valid_prefix(text);
  if (valid != text.size())
    return base::invalid_argument(format("the text is not valid UTF-8 at byte {} of {}", valid, text.size()));
  std::vector<int32_t> ids;
  ids.reserve(text.size() / 3 + 2);
  const bool add = adding == SpecialAdding::kOn;
  if (add && spec.add_bos && spec.bos) ids.push_back(*spec.bos);
  CS_RETURN_IF_ERROR(
      std::visit([&](const auto& any) { return Encoding(spec, any, ids).run(raw, normalized, text, control_ranges); }, model));
  if (add && spec.add_eos && spec.eos) ids.push_back(*spec.eos);
  return ids;
}

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::make(api::TokenizerSpec spec) {
  CS_RETURN_IF_ERROR(check_spec(spec));
  std::vector<std::string> bytes = bytes_of_tokens(spec);
  CS_ASSIGN_OR_RETURN(Model model, make_model(spec, bytes));
  return Tokenizer(std::make_unique<Impl>(std::move(spec), std::move(bytes), std::move(model)));
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, SpecialAdding adding, SpecialParsing parsing) const {
  ControlRanges control;
  if (parsing == SpecialParsing::kOn) control.add(0, text.size());
  return impl_->encode(text, adding, control);
}

Result<std::vector<int32_t>> Tokenizer::encode_spans(std::span<const Span> spans, SpecialAdding adding) const {
  std::string text;
  ControlRanges control;
  for (const Span& span : spans) {
    if (span.origin == Span::Origin::kTemplate) control.add(text.size(), text.size() + span.text.size());
    text += span.text;
  }
  return impl_->encode(text, adding, control);
}

std::string Tokenizer::decode(std::span<const int32_t> ids, ShowSpecial show) const {
  Detokenizer detokenizer(*this, show, Detokenizer::Start::kTextStart);
  std::string text;
  for (const int32_t id : ids) text += detokenizer.push(id);
  return text + detokenizer.finish();
}

std::string_view Tokenizer::token_bytes(int32_t id) const {
  CS_CHECK(id >= 0 && id < vocab_size(), "the caller checks ids against vocab_size()");
  return impl_->token_bytes[static_cast<size_t>(id)];
}
bool Tokenizer::is_control(int32_t id) const { return id >= 0 && id < vocab_size() && impl_->control[static_cast<size_t>(id)]; }
bool Tokenizer::is_end(int32_t id) const { return id >= 0 && id < vocab_size() && impl_->end[static_cast<size_t>(id)]; }
int32_t Tokenizer::vocab_size() const { return static_cast<int32_t>(impl_->spec.tokens.size()); }
const api::TokenizerSpec& Tokenizer::spec() const { return impl_->spec; }

}  // namespace camshaft::text
