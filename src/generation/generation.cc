// A request on its way in, and its tokens on their way out as text.
#include "generation/generation.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/utf8.h"
#include "generation/params.h"
#include "generation/prompt.h"
#include "text/detokenizer.h"

namespace camshaft::generation {

using api::FinishReason;

namespace {

bool has(const std::vector<int32_t>& ids, int32_t id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

// Output goes on inside the prompt's text, unless there is nothing in front of it but BOS.
text::Detokenizer::Start start_of(const std::vector<int32_t>& prompt, const text::Tokenizer& tokenizer) {
  const bool only_bos = prompt.size() == 1 && prompt[0] == tokenizer.spec().bos;
  return only_bos ? text::Detokenizer::Start::kTextStart : text::Detokenizer::Start::kMidText;
}

text::Tokenizer::ShowSpecial show_of(const GenerationRequest& request) {
  return request.skip_special_tokens ? text::Tokenizer::ShowSpecial::kNo : text::Tokenizer::ShowSpecial::kYes;
}

}  // namespace

struct Generation::Impl {
  Impl(const ModelEntry& model, GenerationRequest asked, std::vector<int32_t> prompt)
      : entry(model),
        request(std::move(asked)),
        prompt_ids(std::move(prompt)),
        detokenizer(*model.tokenizer, show_of(request), start_of(prompt_ids, *model.tokenizer)),
        stops(request.stop) {
    usage.prompt_tokens = static_cast<int32_t>(prompt_ids.size());
  }

  api::Request executor_request() const;
  void take_token(const api::TokenEvent& event, Piece& piece);
  void take_text(std::string text, Piece& piece);
  void take_end(const api::TokenEvent& event, Piece& piece);
  bool shows(int32_t id, bool stopped) const;
  PieceLogprob describe(const api::TokenLogprob& logprob) const;
  void cancel(FinishReason reason);

  const ModelEntry& entry;
  const GenerationRequest request;
  const std::vector<int32_t> prompt_ids;
  text::Detokenizer detokenizer;
  StopStrings stops;
  api::Usage usage;
  bool finished = false;   // a piece with its finish went out
  bool ended = false;      // the executor's last event came
  bool cancelled = false;  // the executor was told
};

api::Request Generation::Impl::executor_request() const {
  const int32_t rest = std::max(1, entry.executor->limits().max_seq_len - usage.prompt_tokens);
  api::Request out{.id = request.id, .prompt = prompt_ids, .sampling = request.sampling, .deadline = request.deadline};
  out.stop.max_tokens =
      request.max_tokens.value_or(request.default_max_tokens > 0 ? std::min(request.default_max_tokens, rest) : rest);
  out.stop.min_tokens = request.min_tokens;
  out.stop.stop_ids = request.stop_token_ids;
  if (request.ignore_eos) return out;
  for (const int32_t id : entry.tokenizer->spec().end_ids) {
    if (!has(out.stop.stop_ids, id)) out.stop.stop_ids.push_back(id);
  }
  return out;
}

// The text of an end token is shown with the special tokens, that of any other stop token only if it was asked for.
bool Generation::Impl::shows(int32_t id, bool stopped) const {
  const text::Tokenizer& tokenizer = *entry.tokenizer;
  if (id < 0 || id >= tokenizer.vocab_size()) return false;
  if (tokenizer.is_end(id) || tokenizer.is_control(id)) return !request.skip_special_tokens;
  return !stopped || request.include_stop_in_output;
}

PieceLogprob Generation::Impl::describe(const api::TokenLogprob& logprob) const {
  PieceLogprob out{.id = logprob.id, .logprob = logprob.logprob};
  if (logprob.id >= 0 && logprob.id < entry.tokenizer->vocab_size()) out.bytes = entry.tokenizer->token_bytes(logprob.id);
  out.token = base::replace_invalid_utf8(out.bytes);
  return out;
}

void Generation::Impl::take_token(const api::TokenEvent& event, Piece& piece) {
  ++usage.completion_tokens;
  PieceToken& token = piece.tokens.emplace_back();
  token.id = event.token;
  if (event.logprob) token.logprob = describe(*event.logprob);
  for (const api::TokenLogprob& top : event.top_logprobs) token.top.push_back(describe(top));
  if (shows(event.token, event.stop_id == event.token)) take_text(detokenizer.push(event.token), piece);
}

// Before min_tokens nothing stops, so the text is not searched.
void Generation::Impl::take_text(std::string text, Piece& piece) {
  if (usage.completion_tokens < request.min_tokens) {
    piece.text += text;
    return;
  }
  StopStrings::Outcome outcome = stops.push(text);
  piece.text += outcome.text;
  if (!outcome.hit) return;
  if (request.include_stop_in_output) piece.text += *outcome.hit;
  piece.finish = FinishReason::kStop;
  piece.stop_reason = std::move(*outcome.hit);
}

void Generation::Impl::take_end(const api::TokenEvent& event, Piece& piece) {
  take_text(detokenizer.finish(), piece);
  if (piece.finish != FinishReason::kNone) return;  // the stump completed a stop string
  piece.text += stops.finish();
  piece.finish = event.finish;
  piece.error = event.error;
  if (event.stop_id >= 0 && has(request.stop_token_ids, event.stop_id)) piece.stop_reason = event.stop_id;
}

void Generation::Impl::cancel(FinishReason reason) {
  if (ended || cancelled) return;
  cancelled = true;
  entry.executor->cancel(request.id, reason);
}

// A prompt that is too long by itself is the executor's to refuse.
Status check_context(const GenerationRequest& request, size_t prompt_tokens, int32_t max_seq_len) {
  const auto prompt = static_cast<int64_t>(prompt_tokens);
  if (!request.max_tokens || prompt >= max_seq_len || prompt + *request.max_tokens <= max_seq_len) return base::ok_status();
  return base::invalid_argument(format("the prompt has {} tokens and max_tokens is {}, together {}; the context holds {}", prompt,
                                       *request.max_tokens, prompt + *request.max_tokens, max_seq_len))
      .with_subject("max_tokens")
      .with_reason("context_length_exceeded");
}

Result<std::unique_ptr<Generation>> Generation::start(const ModelEntry& entry, GenerationRequest request,
                                                      executor::EventQueue& events) {
  // Padded rows of the model's vocabulary are no tokens, added tokens beyond its rows cannot be computed.
  const int32_t vocab = std::min(entry.executor->limits().vocab, entry.tokenizer->vocab_size());
  CS_RETURN_IF_ERROR(check_params(request, vocab));
  CS_ASSIGN_OR_RETURN(std::vector<int32_t> prompt, encode_prompt(entry, request, vocab));
  CS_RETURN_IF_ERROR(check_context(request, prompt.size(), entry.executor->limits().max_seq_len));
  const bool is_chat = std::holds_alternative<ChatPrompt>(request.prompt);
  request.prompt = TokenPrompt();  // is in `prompt` now
  auto impl = std::make_unique<Impl>(entry, std::move(request), std::move(prompt));
  Status submitted = entry.executor->submit(impl->executor_request(), events);
  if (is_chat && submitted.subject() == "prompt") return std::move(submitted).with_subject("messages");  // the field it came in
  CS_RETURN_IF_ERROR(submitted);
  return std::unique_ptr<Generation>(new Generation(std::move(impl)));
}

Generation::Generation(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Generation::~Generation() { cancel(); }

api::RequestId Generation::id() const { return impl_->request.id; }
const std::vector<int32_t>& Generation::prompt_ids() const { return impl_->prompt_ids; }
bool Generation::ended() const { return impl_->ended; }
void Generation::cancel() { impl_->cancel(FinishReason::kAbort); }

Piece Generation::on_event(const api::TokenEvent& event) {
  Piece piece;
  if (event.finish != FinishReason::kNone) impl_->ended = true;
  if (!impl_->finished) {
    impl_->usage.cached_tokens = std::max(impl_->usage.cached_tokens, event.cached_tokens);
    if (event.token >= 0) impl_->take_token(event, piece);
    if (event.finish != FinishReason::kNone && piece.finish == FinishReason::kNone) impl_->take_end(event, piece);
    impl_->finished = piece.finish != FinishReason::kNone;
    if (impl_->finished) impl_->cancel(FinishReason::kStop);  // where a stop string was faster than the executor
  }
  piece.usage = impl_->usage;
  return piece;
}

}  // namespace camshaft::generation
