// camshaft run ENGINE [-p PROMPT]: one answer, or a chat; streams to stdout, speed to stderr.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>

#include "base/format.h"
#include "cli/commands.h"
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
  CommandSpec out{"run", "Answers one prompt, or chats when none is given; streams to standard output.", {}, {}};
  out.positionals.push_back({"ENGINE", "An engine file, or a checkpoint (built once into the cache).", true, &s.model});
  out.options = {
      {"p", base::Text{"PROMPT"}, "", "The prompt; without it an interactive chat begins.", &s.prompt},
      {"system", base::Text{"TEXT"}, "", "System message of the chat.", &s.system},
      {"raw", base::Flag{}, "", "Continues the prompt as it is, without the chat template.", &s.raw},
      {"json", base::Flag{}, "", "Prints one JSON object instead of streaming.", &s.json},
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

Result<Answer> answer(const generation::ModelEntry& entry, generation::GenerationRequest request, bool stream) {
  executor::EventQueue events;
  const auto start = SteadyClock::now();
  CS_ASSIGN_OR_RETURN(const auto generation, generation::Generation::start(entry, std::move(request), events));
  Answer out;
  while (!generation->ended()) {
    for (const api::TokenEvent& event : events.wait()) {
      const generation::Piece piece = generation->on_event(event);
      if (out.first_token_s == 0 && !piece.tokens.empty()) out.first_token_s = since(start);
      if (stream) {
        std::fwrite(piece.text.data(), 1, piece.text.size(), stdout);
        std::fflush(stdout);
      }
      out.text += piece.text;
      if (piece.finish == api::FinishReason::kNone) continue;
      if (piece.finish == api::FinishReason::kError) return piece.error;
      out.usage = piece.usage;
      out.finish = piece.finish;
    }
  }
  out.total_s = since(start);
  return out;
}

double tokens_per_second(const Answer& a) {
  const double seconds = a.total_s - a.first_token_s;
  return a.usage.completion_tokens > 1 && seconds > 0 ? (a.usage.completion_tokens - 1) / seconds : 0;
}

void print_speed(const Answer& a) {
  std::fprintf(stderr, "[%d tokens in, %d out; first token %.0f ms, then %.1f tokens/s]\n", a.usage.prompt_tokens,
               a.usage.completion_tokens, a.first_token_s * 1e3, tokens_per_second(a));
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

Json message(const char* role, const std::string& content) {
  Json json;
  json.set("role", role);
  json.set("content", content);
  return json;
}

generation::GenerationRequest make_request(const State& s, const generation::ModelEntry& entry) {
  generation::GenerationRequest request;
  request.sampling = generation::default_sampling(entry);
  apply_sampling(s.sampling, request.sampling);
  if (s.max_tokens > 0) request.max_tokens = static_cast<int32_t>(s.max_tokens);
  return request;
}

int one_prompt(const State& s, const generation::ModelEntry& entry, double load_s) {
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
  const auto result = answer(entry, std::move(request), !s.json);
  if (!result.ok()) return report_failure("run", result.status(), FailedThing::kRequest);
  if (s.json) {
    print_json(*result, load_s);
  } else {
    std::puts("");
    print_speed(*result);
  }
  return 0;
}

int chat(const State& s, const generation::ModelEntry& entry) {
  if (entry.chat_template == nullptr) {
    return report_failure("run", base::failed_precondition("the model has no chat template; give a prompt with -p"),
                          FailedThing::kRequest);
  }
  const bool terminal = isatty(STDIN_FILENO) != 0;
  base::JsonArray messages;
  if (!s.system.empty()) messages.push_back(message("system", s.system));
  std::string line;
  api::RequestId id = 0;
  while (true) {
    if (terminal) std::fputs("> ", stderr);
    if (!std::getline(std::cin, line)) break;
    if (line.empty()) continue;
    messages.push_back(message("user", line));
    generation::GenerationRequest request = make_request(s, entry);
    request.id = ++id;
    generation::ChatPrompt prompt;
    prompt.messages = messages;
    request.prompt = std::move(prompt);
    const auto result = answer(entry, std::move(request), true);
    if (!result.ok()) return report_failure("run", result.status(), FailedThing::kRequest);
    std::puts("");
    print_speed(*result);
    messages.push_back(message("assistant", result->text));
  }
  return 0;
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("run", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  const auto start = SteadyClock::now();
  base::MetricsRegistry metrics;
  const auto model = open_model(s.model, s.model_options, "", metrics);
  if (!model.ok()) return report_failure("run", model.status(), FailedThing::kEngine);
  const double load_s = since(start);
  return s.prompt.empty() ? chat(s, (*model)->entry) : one_prompt(s, (*model)->entry, load_s);
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
