// Generation: one prompt to a stream of text pieces: template, encode, submit, decode, stop strings, usage. What server, run and
// bench share. Owned by one consumer thread (an I/O thread, or main).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/request.h"
#include "base/json.h"
#include "base/status.h"
#include "executor/executor.h"
#include "generation/model_entry.h"
#include "generation/stop_strings.h"

namespace camshaft::generation {

struct ChatPrompt {
  Json messages;
  Json tools;
  bool add_generation_prompt = true;
  bool continue_final_message = false;
  base::JsonObject template_kwargs;
  std::optional<int64_t> now_unix_seconds;  // the date that templates see; absent: the machine's clock
};
struct TextPrompt {
  std::string text;
  bool add_special_tokens = true;
};
struct TokenPrompt {
  std::vector<int32_t> ids;
};

struct GenerationRequest {
  api::RequestId id = 0;
  std::variant<ChatPrompt, TextPrompt, TokenPrompt> prompt;
  api::SamplingParams sampling;
  std::optional<int32_t> max_tokens;  // what the client asked for: refused where it does not fit behind the prompt
  int32_t default_max_tokens = 0;     // without max_tokens: so many or what fits; 0: the rest of the context
  int32_t min_tokens = 0;
  std::vector<std::string> stop;  // stop strings
  std::vector<int32_t> stop_token_ids;
  bool ignore_eos = false;
  bool include_stop_in_output = false;
  bool skip_special_tokens = true;
  std::optional<base::SteadyTime> deadline;
};

struct PieceLogprob {
  std::string token;  // its text (bytes that are no text on their own as U+FFFD)
  std::string bytes;
  int32_t id = 0;
  float logprob = 0;
};
struct PieceToken {
  int32_t id = 0;
  std::optional<PieceLogprob> logprob;
  std::vector<PieceLogprob> top;
};

// What became certain with one or more tokens. Text may lag behind tokens (half characters, a possible stop string).
struct Piece {
  std::string text;
  std::vector<PieceToken> tokens;  // sampled since the last piece, end token included
  api::FinishReason finish = api::FinishReason::kNone;
  std::variant<std::monostate, std::string, int32_t> stop_reason;  // the stop string or the token id that hit
  api::Usage usage;                                                // so far
  Status error;                                                    // with FinishReason::kError
};

class Generation {
 public:
  // Renders, encodes, checks and submits. Errors: invalid_argument with subject (field) and reason, unavailable.
  // The entry and the queue outlive the generation.
  static Result<std::unique_ptr<Generation>> start(const ModelEntry& entry, GenerationRequest request,
                                                   executor::EventQueue& events);
  ~Generation();

  api::RequestId id() const;
  const std::vector<int32_t>& prompt_ids() const;
  // Feeds one event of this request. After a piece with finish != kNone no further event changes anything.
  Piece on_event(const api::TokenEvent& event);
  // Client gone: the executor ends the sequence at the next step's border. Idempotent. The final event still arrives.
  void cancel();
  // True when the executor's last event was seen (the piece's finish may come earlier, with a stop string).
  bool ended() const;

 private:
  struct Impl;
  explicit Generation(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::generation
