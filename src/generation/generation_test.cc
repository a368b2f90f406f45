// Generation over a fake executor and a tiny byte-level vocabulary: id = byte, and a few more.
#include "generation/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generation/params.h"
#include "text/bpe_alphabet.h"

namespace camshaft::generation {
namespace {

using api::FinishReason;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int32_t kEnd = 256, kBos = 257, kLo = 258, kTurn = 259;

api::TokenizerSpec tiny_spec(bool with_bos) {
  api::TokenizerSpec spec;
  for (int byte = 0; byte < 256; ++byte) spec.tokens.push_back(text::printable_byte(static_cast<unsigned char>(byte)));
  spec.kinds.assign(256, api::TokenKind::kNormal);
  for (const char* control : {"<end>", "<s>", "lo", "<turn>"}) {
    spec.tokens.emplace_back(control);
    spec.kinds.push_back(control[0] == '<' ? api::TokenKind::kControl : api::TokenKind::kNormal);
  }
  spec.merges = {{"l", "o"}};
  for (const int32_t id : {kEnd, kBos, kTurn})
    spec.added.push_back({.id = id, .content = spec.tokens[static_cast<size_t>(id)], .special = true});
  spec.pre_tokenizer = {{}};
  if (with_bos) spec.bos = kBos;
  spec.add_bos = with_bos;
  spec.eos = kEnd;
  spec.end_ids = {kEnd};
  return spec;
}

class FakeExecutor final : public executor::Executor {
 public:
  const executor::ExecutorLimits& limits() const override { return limits_; }
  Status submit(api::Request request, executor::EventQueue&) override {
    if (!refusal.ok()) return refusal;
    last = std::move(request);
    return base::ok_status();
  }
  void cancel(api::RequestId, FinishReason reason) override { cancels.push_back(reason); }
  void drain(base::SteadyTime) override {}
  executor::ExecutorStats stats() const override { return {}; }

  api::Request last;
  std::vector<FinishReason> cancels;
  Status refusal;

 private:
  executor::ExecutorLimits limits_{.max_seq_len = 100, .max_prompt_tokens = 99, .vocab = 300};
};

// A generation and what came out of it.
class GenerationTest : public testing::Test {
 protected:
  GenerationTest() { make_entry(true); }

  void make_entry(bool with_bos) {
    entry_.name = "tiny";
    entry_.tokenizer = std::make_unique<text::Tokenizer>(text::Tokenizer::make(tiny_spec(with_bos)).value());
    auto fake = std::make_unique<FakeExecutor>();
    executor_ = fake.get();
    entry_.executor = std::move(fake);
  }
  static GenerationRequest text_request(std::string text) {
    GenerationRequest request{.id = 9};
    request.prompt = TextPrompt{std::move(text), true};
    return request;
  }
  Status start(GenerationRequest request) {
    auto started = Generation::start(entry_, std::move(request), events_);
    if (!started.ok()) return started.status();
    generation_ = std::move(*started);
    return base::ok_status();
  }
  Piece token(int32_t id, FinishReason finish = FinishReason::kNone, int32_t stop_id = -1) {
    Piece piece = generation_->on_event({.request = 9, .token = id, .finish = finish, .stop_id = stop_id});
    text_ += piece.text;
    return piece;
  }
  // Feeds a byte a token until a piece finishes.
  Piece bytes(std::string_view text) {
    Piece piece;
    for (const char c : text) {
      piece = token(static_cast<unsigned char>(c));
      if (piece.finish != FinishReason::kNone) break;
    }
    return piece;
  }

  executor::EventQueue events_;
  ModelEntry entry_;
  FakeExecutor* executor_ = nullptr;
  std::unique_ptr<Generation> generation_;
  std::string text_;
};

TEST_F(GenerationTest, PromptsInEveryForm) {
  ASSERT_TRUE(start(text_request("hello<end>")).ok());
  EXPECT_THAT(executor_->last.prompt, ElementsAre(kBos, 'h', 'e', 'l', kLo, kEnd));
  EXPECT_EQ(generation_->prompt_ids(), executor_->last.prompt);
  EXPECT_EQ(executor_->last.stop.max_tokens, 94);
  EXPECT_THAT(executor_->last.stop.stop_ids, ElementsAre(kEnd));

  GenerationRequest tokens{.id = 1, .prompt = TokenPrompt{{1, 2, 3}}};
  tokens.max_tokens = 7;
  tokens.ignore_eos = true;
  tokens.stop_token_ids = {65};
  ASSERT_TRUE(start(tokens).ok());
  EXPECT_THAT(executor_->last.prompt, ElementsAre(1, 2, 3));
  EXPECT_EQ(executor_->last.stop.max_tokens, 7);
  EXPECT_THAT(executor_->last.stop.stop_ids, ElementsAre(65));

  tokens.max_tokens.reset();
  tokens.default_max_tokens = 1000;
  ASSERT_TRUE(start(tokens).ok());
  EXPECT_EQ(executor_->last.stop.max_tokens, 97);
  tokens.max_tokens = 98;
  const Status beyond = start(tokens);
  EXPECT_EQ(beyond.subject(), "max_tokens");
  EXPECT_EQ(beyond.reason(), "context_length_exceeded");

  ASSERT_TRUE(start({.prompt = TokenPrompt{}}).ok());
  EXPECT_THAT(executor_->last.prompt, ElementsAre(kBos));
  EXPECT_THAT(start({.prompt = TokenPrompt{{1, 260}}}).message(), HasSubstr("260"));
  EXPECT_EQ(start({.prompt = TokenPrompt{{-1}}}).subject(), "prompt");
  EXPECT_EQ(start({.prompt = ChatPrompt{}}).subject(), "messages");
  EXPECT_EQ(start(text_request("\xff")).subject(), "prompt");
  generation_.reset();
  make_entry(false);
  const Status empty = start({.prompt = TextPrompt{}});
  EXPECT_EQ(empty.code(), Code::kInvalidArgument);
  EXPECT_EQ(empty.subject(), "prompt");
}

TEST_F(GenerationTest, ChatContentNeverBecomesControlTokens) {
  auto parsed = text::ChatTemplate::parse(
      "{{ bos_token }}{% for m in messages %}{{ m.content }}<turn>{% endfor %}{% if add_generation_prompt %}{{ who }}{% endif %}");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  entry_.chat_template = std::make_unique<text::ChatTemplate>(std::move(*parsed));
  entry_.prompt.bos_token = "<s>";
  ChatPrompt chat;
  chat.messages = base::JsonArray{base::JsonObject{{"role", "user"}, {"content", "<s>"}}};
  chat.template_kwargs = {{"who", "A"}};
  ASSERT_TRUE(start({.prompt = chat}).ok());
  EXPECT_THAT(executor_->last.prompt, ElementsAre(kBos, '<', 's', '>', kTurn, 'A'));
  chat.template_kwargs = {{"bos_token", "<turn>"}};
  EXPECT_EQ(start({.prompt = chat}).subject(), "chat_template_kwargs");
  chat.template_kwargs.clear();
  chat.continue_final_message = true;
  EXPECT_EQ(start({.prompt = chat}).subject(), "continue_final_message");
}

// The offset is one in what the caller wrote, not in the text that the template made of it.
TEST_F(GenerationTest, InvalidUtf8IsFoundInItsMessage) {
  entry_.chat_template = std::make_unique<text::ChatTemplate>(
      text::ChatTemplate::parse("{% for m in messages %}<turn>{{ m.role }} says {{ m.content }}{% endfor %}").value());
  ChatPrompt chat;
  chat.messages = base::JsonArray{base::JsonObject{{"role", "system"}, {"content", "fine"}},
                                  base::JsonObject{{"role", "user"}, {"content", "a\xff"}}};
  const Status status = start({.prompt = chat});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.subject(), "messages.1.content");
  EXPECT_EQ(status.message(), "messages.1.content is not valid UTF-8 at byte 1 of 2");
}

TEST_F(GenerationTest, StopStringAcrossTokensCancelsWithStop) {
  GenerationRequest request = text_request("x");
  request.stop = {"END", "\n\n"};
  ASSERT_TRUE(start(request).ok());
  bytes("one\nEN");
  EXPECT_EQ(text_, "one\n");
  const Piece hit = token('D');
  EXPECT_EQ(text_, "one\n");
  EXPECT_EQ(hit.finish, FinishReason::kStop);
  EXPECT_EQ(std::get<std::string>(hit.stop_reason), "END");
  EXPECT_EQ(hit.usage.completion_tokens, 7);
  EXPECT_EQ(hit.usage.prompt_tokens, 2);
  EXPECT_THAT(executor_->cancels, ElementsAre(FinishReason::kStop));
  EXPECT_FALSE(generation_->ended());
  EXPECT_EQ(token('x').usage.completion_tokens, 7);  // sampled before the cancel was seen
  EXPECT_EQ(token(-1, FinishReason::kStop).finish, FinishReason::kNone);
  EXPECT_TRUE(generation_->ended());
  generation_->cancel();
  generation_.reset();
  EXPECT_EQ(executor_->cancels.size(), 1u);
  EXPECT_EQ(text_, "one\n");
}

TEST_F(GenerationTest, HeldTextComesWithTheEnd) {
  GenerationRequest request = text_request("x");
  request.stop = {"END"};
  ASSERT_TRUE(start(request).ok());
  bytes("aE");
  EXPECT_EQ(text_, "a");
  const Piece last = token('N', FinishReason::kLength);
  EXPECT_EQ(text_, "aEN");
  EXPECT_EQ(last.finish, FinishReason::kLength);
  EXPECT_TRUE(executor_->cancels.empty());
}

TEST_F(GenerationTest, StopOnTheLastTokenIsAStop) {
  GenerationRequest request = text_request("x");
  request.stop = {"b"};
  request.include_stop_in_output = true;
  ASSERT_TRUE(start(request).ok());
  token('a');
  EXPECT_EQ(token('b', FinishReason::kLength).finish, FinishReason::kStop);
  EXPECT_EQ(text_, "ab");
  EXPECT_TRUE(generation_->ended());
  EXPECT_TRUE(executor_->cancels.empty());
}

TEST_F(GenerationTest, EndTokensAndStopTokens) {
  ASSERT_TRUE(start(text_request("x")).ok());
  token('a');
  Piece last = token(kEnd, FinishReason::kStop, kEnd);
  EXPECT_EQ(text_, "a");
  EXPECT_EQ(last.usage.completion_tokens, 2);
  EXPECT_EQ(last.tokens.size(), 1u);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(last.stop_reason));

  GenerationRequest shown = text_request("x");
  shown.skip_special_tokens = false;
  ASSERT_TRUE(start(shown).ok());
  token(kEnd, FinishReason::kStop, kEnd);
  EXPECT_EQ(text_, "a<end>");

  GenerationRequest own = text_request("x");
  own.stop_token_ids = {'z'};
  ASSERT_TRUE(start(own).ok());
  last = token('z', FinishReason::kStop, 'z');
  EXPECT_EQ(std::get<int32_t>(last.stop_reason), 'z');
  EXPECT_EQ(text_, "a<end>");
}

TEST_F(GenerationTest, NeverHalfACodePoint) {
  ASSERT_TRUE(start(text_request("x")).ok());
  bytes("\xE2\x82");
  EXPECT_EQ(text_, "");
  bytes("\xAC");
  EXPECT_EQ(text_, "\xE2\x82\xAC");
  bytes("\xF0\x9F");
  token(-1, FinishReason::kAbort);
  EXPECT_EQ(text_, "\xE2\x82\xAC\xEF\xBF\xBD");
}

TEST_F(GenerationTest, MinTokensHoldsStopStringsBack) {
  GenerationRequest request = text_request("x");
  request.stop = {"b"};
  request.min_tokens = 3;
  ASSERT_TRUE(start(request).ok());
  EXPECT_EQ(executor_->last.stop.min_tokens, 3);
  EXPECT_EQ(bytes("bbxb").finish, FinishReason::kStop);
  EXPECT_EQ(text_, "bbx");
}

TEST_F(GenerationTest, LogprobsCarryTextAndBytes) {
  GenerationRequest request = text_request("x");
  request.sampling.logprobs = 1;
  ASSERT_TRUE(start(request).ok());
  api::TokenEvent event{.request = 9, .token = 0xE2, .logprob = api::TokenLogprob{0xE2, -0.5f}, .top_logprobs = {{kLo, -0.25f}}};
  const Piece piece = generation_->on_event(event);
  ASSERT_TRUE(piece.tokens[0].logprob);
  EXPECT_EQ(piece.tokens[0].logprob->token, "\xEF\xBF\xBD");
  EXPECT_EQ(piece.tokens[0].logprob->bytes, "\xE2");
  EXPECT_EQ(piece.tokens[0].logprob->logprob, -0.5f);
  EXPECT_EQ(piece.tokens[0].top[0].token, "lo");
}

TEST_F(GenerationTest, CancelAndErrorsComeThrough) {
  ASSERT_TRUE(start(text_request("x")).ok());
  generation_->cancel();
  generation_->cancel();
  EXPECT_THAT(executor_->cancels, ElementsAre(FinishReason::kAbort));
  const Piece piece = generation_->on_event({.finish = FinishReason::kError, .error = base::internal_error("bad logits")});
  EXPECT_EQ(piece.finish, FinishReason::kError);
  EXPECT_EQ(piece.error.message(), "bad logits");

  ASSERT_TRUE(start(text_request("x")).ok());
  generation_.reset();  // going away cancels
  EXPECT_EQ(executor_->cancels.size(), 2u);
  executor_->refusal = base::unavailable("full").with_reason("queue_full");
  EXPECT_EQ(start(text_request("x")).reason(), "queue_full");
}

TEST_F(GenerationTest, DefaultsAreTheModels) {
  EXPECT_EQ(default_sampling(entry_).temperature, 1.0f);
  entry_.prompt.temperature = 0.25;
  entry_.prompt.top_k = -1;
  entry_.prompt.top_p = 0.5;
  const api::SamplingParams sampling = default_sampling(entry_);
  EXPECT_EQ(sampling.temperature, 0.25f);
  EXPECT_EQ(sampling.top_k, 0);
  EXPECT_EQ(sampling.top_p, 0.5f);
}

TEST(Params, NameTheFieldThatIsWrong) {
  const auto subject = [](auto change) {
    GenerationRequest request;
    change(request);
    return check_params(request, 300).subject();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(subject([](auto&) {}), "");
  EXPECT_EQ(subject([](auto& r) { r.sampling.temperature = 2.1f; }), "temperature");
  EXPECT_EQ(subject([&](auto& r) { r.sampling.temperature = nan; }), "temperature");
  EXPECT_EQ(subject([](auto& r) { r.sampling.top_p = 0; }), "top_p");
  EXPECT_EQ(subject([](auto& r) { r.sampling.min_p = 1.5f; }), "min_p");
  EXPECT_EQ(subject([](auto& r) { r.sampling.top_k = -2; }), "top_k");
  EXPECT_EQ(subject([&](auto& r) { r.sampling.repetition_penalty = nan; }), "repetition_penalty");
  EXPECT_EQ(subject([](auto& r) { r.sampling.presence_penalty = -3; }), "presence_penalty");
  EXPECT_EQ(subject([](auto& r) { r.sampling.logprobs = 21; }), "logprobs");
  EXPECT_EQ(subject([](auto& r) { r.sampling.logit_bias = {{300, 1.0f}}; }), "logit_bias");
  EXPECT_EQ(subject([](auto& r) { r.stop.assign(17, "x"); }), "stop");
  EXPECT_EQ(subject([](auto& r) { r.stop = {""}; }), "stop");
  EXPECT_EQ(subject([](auto& r) { r.stop = {std::string(1025, 'x')}; }), "stop");
  EXPECT_EQ(subject([](auto& r) { r.stop_token_ids = {300}; }), "stop_token_ids");
  EXPECT_EQ(subject([](auto& r) { r.max_tokens = 0; }), "max_tokens");
  EXPECT_EQ(subject([](auto& r) { r.max_tokens = 2, r.min_tokens = 3; }), "min_tokens");
}

// What the definition says, slowly: the first byte at which some stop string is complete, the longest of those.
std::pair<std::string, std::string> first_stop(const std::string& text, const std::vector<std::string>& stops) {
  for (size_t end = 1; end <= text.size(); ++end) {
    std::string best;
    for (const std::string& stop : stops) {
      if (text.substr(0, end).ends_with(stop) && stop.size() > best.size()) best = stop;
    }
    if (!best.empty()) return {text.substr(0, end - best.size()), best};
  }
  return {text, ""};
}

TEST(StopStrings, EveryCutGivesTheSame) {
  const std::vector<std::vector<std::string>> sets = {{"aab"}, {"ab", "abab", "b"}, {"aaaa", "ba"}, {"abc", "cab", "bb"}, {}};
  uint32_t random = 1;
  for (int round = 0; round < 400; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) random = random * 1664525 + 1013904223, text += static_cast<char>('a' + (random >> 24) % 3);
    const auto& stops = sets[static_cast<size_t>(round) % sets.size()];
    const auto expected = first_stop(text, stops);
    for (size_t step = 1; step <= text.size(); ++step) {
      StopStrings finder(stops);
      std::string out, hit;
      for (size_t at = 0; at < text.size() && hit.empty(); at += step) {
        const StopStrings::Outcome outcome = finder.push(text.substr(at, step));
        out += outcome.text;
        hit = outcome.hit.value_or("");
      }
      if (hit.empty()) out += finder.finish();
      ASSERT_EQ(std::pair(out, hit), expected) << text << " by " << step;
    }
  }
}

}  // namespace
}  // namespace camshaft::generation
