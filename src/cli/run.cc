// camshaft run ENGINE [-p PROMPT]: one answer, or a chat; streams to stdout, speed to stderr.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>

#include "base/format.h"
#include "cli/chat_input.h"
#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/open_model.h"
#include "cli/sampling_options.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  std::string prompt;
  std::string system;
  bool raw = false;
  bool json = false;
  int64_t max_tokens = 0;
  SamplingOptions sampling;
  ModelOptions model_options;
};

CommandSpec spec(State& s) {
  CommandSpec out{
      "run", "Answers one prompt, or chats when none is given; streams to standard output.", {}, {}, &s.model_options.given};
  out.positionals.push_back({"ENGINE", "An engine file, or a checkpoint (built once into the cache).", true, &s.model});
  out.options = {
      {"p", base::Text{"PROMPT"}, "", "The prompt; without it a chat begins, a line of standard input a message.", &s.prompt},
      {"system", base::Text{"TEXT"}, "", "System message of the chat.", &s.system},
      {"raw", base::Flag{}, "", "Continues the prompt as it is, without the chat template.", &s.raw},
      {"json", base::Flag{}, "", "Prints an answer as one JSON object instead of streaming it.", &s.json},
      {"max-tokens", base::IntRange{0, 1 << 24}, "0", "Tokens of output; 0 is the rest of the context.", &s.max_tokens},
  };
  for (base::Option& option : sampling_option_table(s.sampling)) out.options.push_back(std::move(option));
  for (base::Option& option : model_option_table(s.model_options, "1")) out.options.push_back(std::move(option));
  return out;
}

using SteadyClock = std::chrono::steady_clock;

struct Answer {
  std::string text;
  api::Usage usage;
  api::FinishReason finish = api::FinishReason::kNone;
  double first_token_s = 0;  // from the request on
  double total_s = 0;
};

double since(SteadyClock::time_point start) { return std::chrono::duration<double>(SteadyClock::now() - start).count(); }

Status show(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  return flush_standard_output();
}

// Ctrl-C ends the answer with kAbort; what there is of it is kept.
class Answering {
 public:
  Answering(const generation::ModelEntry& entry, Interrupts& interrupts) : entry_(entry), interrupts_(interrupts) {}
  ~Answering() { interrupts_.on_next({}); }

  Result<Answer> run(generation::GenerationRequest request, bool stream) {
    interrupts_.on_next([this, id = request.id] {
      stopped_ = true;
      entry_.executor->cancel(id, api::FinishReason::kAbort);
    });
    const auto start = SteadyClock::now();
    CS_ASSIGN_OR_RETURN(const auto generation, generation::Generation::start(entry_, std::move(request), events_));
    if (stopped_) generation->cancel();  // it came before there was anything to cancel
    Answer out;
    Status status;
    while (!generation->ended()) {
      for (const api::TokenEvent& event : events_.wait()) {
        const generation::Piece piece = generation->on_event(event);
        if (out.first_token_s == 0 && !piece.tokens.empty()) out.first_token_s = since(start);
        out.text += piece.text;
        if (stream && status.ok()) status = show(piece.text);
        if (!status.ok()) generation->cancel();  // nobody reads; the last event still comes
        if (piece.finish == api::FinishReason::kNone) continue;
        if (piece.finish == api::FinishReason::kError) status = piece.error;
        out.usage = piece.usage;
        out.finish = piece.finish;
      }
    }
    out.total_s = since(start);
    if (!status.ok()) return status;
    return out;
  }

 private:
  const generation::ModelEntry& entry_;
  Interrupts& interrupts_;
  std::atomic<bool> stopped_{false};
  executor::EventQueue events_;
};

double tokens_per_second(const Answer& a) {
  const double seconds = a.total_s - a.first_token_s;
  return a.usage.completion_tokens > 1 && seconds > 0 ? (a.usage.completion_tokens - 1) / seconds : 0;
}

void print_speed(const Answer& a) {
  std::fprintf(stderr, "[%s%d tokens in, %d out; first token %.0f ms, then %.1f tokens/s]\n",
               a.finish == api::FinishReason::kAbort ? "stopped; " : "", a.usage.prompt_tokens, a.usage.completion_tokens,
               a.first_token_s * 1e3, tokens_per_second(a));
}

void print_json(const Answer& a, double load_s) {
  Json json;
  json.set("text", a.text);
  json.set("finish_reason", api::finish_reason_name(a.finish));
  Json usage;
  usage.set("prompt_tokens", a.usage.prompt_tokens);
  usage.set("completion_tokens", a.usage.completion_tokens);
  json.set("usage", std::move(usage));
  json.set("load_ms", load_s * 1e3);
  json.set("ttft_ms", a.first_token_s * 1e3);
  json.set("tokens_per_second", tokens_per_second(a));
  std::puts(json.dump().c_str());
}

// The answer's line ends before the speed begins, also where both go to one terminal or file.
Status finish_answer(const State& s, const Answer& a, double load_s) {
  if (s.json) {
    print_json(a, load_s);
    return show("");
  }
  CS_RETURN_IF_ERROR(show(a.text.ends_with('\n') ? "" : "\n"));
  print_speed(a);
  return base::ok_status();
}

Json message(const char* role, const std::string& content) {
  Json json;
  json.set("role", role);
  json.set("content", content);
  return json;
}

generation::GenerationRequest make_request(const State& s, const generation::ModelEntry& entry) {
  generation::GenerationRequest request;
  request.sampling = generation::default_sampling(entry);
  apply_sampling(s.sampling, entry.prompt, request.sampling);
  if (s.max_tokens > 0) request.max_tokens = static_cast<int32_t>(s.max_tokens);
  return request;
}

int one_prompt(const State& s, const generation::ModelEntry& entry, double load_s, Interrupts& interrupts) {
  generation::GenerationRequest request = make_request(s, entry);
  if (s.raw || entry.chat_template == nullptr) {
    request.prompt = generation::TextPrompt{s.prompt, true};
  } else {
    generation::ChatPrompt chat;
    base::JsonArray messages;
    if (!s.system.empty()) messages.push_back(message("system", s.system));
    messages.push_back(message("user", s.prompt));
    chat.messages = std::move(messages);
    request.prompt = std::move(chat);
  }
  const auto result = Answering(entry, interrupts).run(std::move(request), !s.json);
  if (!result.ok()) return report_failure("run", result.status(), FailedThing::kRequest);
  const Status shown = finish_answer(s, *result, load_s);
  if (!shown.ok()) return report_failure("run", shown, FailedThing::kRequest);
  return result->finish == api::FinishReason::kAbort ? kInterrupted : 0;
}

// The conversation so far, and one answer after the other to it.
class Chat {
 public:
  Chat(const State& s, const generation::ModelEntry& entry, double load_s, Interrupts& interrupts)
      : s_(s), entry_(entry), load_s_(load_s), interrupts_(interrupts) {
    clear();
  }

  void clear() {
    messages_.clear();
    if (!s_.system.empty()) messages_.push_back(message("system", s_.system));
  }

  // Whether Ctrl-C ended the last answer.
  bool stopped() const { return stopped_; }

  // A message that gets no answer leaves the conversation as it was.
  Status say(const std::string& text) {
    const base::JsonArray before = messages_;
    messages_.push_back(message("user", text));
    const Status status = answer();
    if (!status.ok()) messages_ = before;
    return status;
  }

 private:
  Status answer() {
    generation::GenerationRequest request = make_request(s_, entry_);
    request.id = ++last_id_;
    generation::ChatPrompt prompt;
    prompt.messages = messages_;
    request.prompt = std::move(prompt);
    CS_ASSIGN_OR_RETURN(const Answer result, Answering(entry_, interrupts_).run(std::move(request), !s_.json));
    messages_.push_back(message("assistant", result.text));
    stopped_ = result.finish == api::FinishReason::kAbort;
    return finish_answer(s_, result, load_s_);
  }

  const State& s_;
  const generation::ModelEntry& entry_;
  const double load_s_;
  Interrupts& interrupts_;
  base::JsonArray messages_;
  api::RequestId last_id_ = 0;
  bool stopped_ = false;
};

// A refused message ends no chat; the exit code of one that came through a pipe tells of it.
int chat(const State& s, const generation::ModelEntry& entry, double load_s, Interrupts& interrupts) {
  if (entry.chat_template == nullptr) {
    return report_failure("run", base::failed_precondition("the model has no chat template; give a prompt with -p"),
                          FailedThing::kRequest);
  }
  ChatInput input(STDIN_FILENO);
  Chat chat(s, entry, load_s, interrupts);
  if (input.terminal()) std::fputs("Ctrl-C stops an answer, Ctrl-D ends, /clear begins a new conversation.\n", stderr);
  int code = 0;
  while (true) {
    if (input.terminal()) {
      std::fputs("> ", stderr);
      interrupts.on_next([] { std::fputs("\n(Ctrl-D or a second Ctrl-C ends)\n> ", stderr); });
    }
    const auto line = input.next();
    interrupts.on_next({});
    if (!line) break;
    if (line->find_first_not_of(" \t\r\n") == std::string::npos) continue;
    if (input.terminal() && *line == "/clear") {
      chat.clear();
      continue;
    }
    const Status said = chat.say(*line);
    if (chat.stopped() && !input.terminal()) return kInterrupted;
    if (said.ok()) continue;
    code = report_failure("run", said, FailedThing::kRequest);
    if (said.code() == Code::kUnavailable || said.code() == Code::kIo) return code;
  }
  if (input.terminal()) std::fputs("\n", stderr);
  if (!input.status().ok()) return report_failure("run", input.status(), FailedThing::kRequest);
  return input.terminal() ? 0 : code;
}

bool has_prompt(const State& s) { return s.model_options.given.contains("p"); }

Status check_usage(const State& s) {
  CS_RETURN_IF_ERROR(check_sampling(s.sampling));
  if (s.raw && !s.system.empty()) return base::invalid_argument("--system: --raw has no system message; put the text into -p");
  if (has_prompt(s)) return base::ok_status();
  if (s.raw) return base::invalid_argument("--raw continues a prompt, and there is none; give one with -p");
  if (s.json && isatty(STDIN_FILENO) != 0) {
    return base::invalid_argument("--json is not for a chat at a terminal; give a prompt with -p, or messages through a pipe");
  }
  return base::ok_status();
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("run", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  if (const Status usable = check_usage(s); !usable.ok()) return report_failure("run", usable, FailedThing::kUsage);
  const auto start = SteadyClock::now();
  Interrupts interrupts(is_ignored(SIGINT) ? std::initializer_list<int>{} : std::initializer_list<int>{SIGINT});
  base::MetricsRegistry metrics;
  const auto model = open_model(s.model, s.model_options, "", metrics);
  if (!model.ok()) return report_failure("run", model.status(), FailedThing::kEngine);
  const double load_s = since(start);
  if (has_prompt(s)) return one_prompt(s, (*model)->entry, load_s, interrupts);
  return chat(s, (*model)->entry, load_s, interrupts);
}

}  // namespace

const Command& run_command() {
  static const Command command = {"run", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
