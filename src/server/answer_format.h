// AnswerFormat: pieces of a generation to the bytes of one dialect's answer. Owned by a job; one for each endpoint and for streams
// and whole answers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generation/generation.h"
#include "server/openai/params.h"
#include "server/openai/write.h"

namespace camshaft::server {

class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  // A piece that is no error; the last one has a finish. Streams append their events to `out`, whole answers keep what they need.
  virtual void add(const generation::Piece& piece, std::string& out) = 0;
  // Behind the last piece: the end of the stream, or the whole body.
  virtual void finish(std::string& out) = 0;
};

// What a format needs to know before the first piece.
struct AnswerStart {
  AnswerHead head;
  bool stream = false;
  bool include_usage = false;
  bool continuous_usage = false;
  bool return_token_ids = false;
  bool tokens_as_ids = false;
  bool logprobs = false;
  std::vector<int32_t> prompt_ids;
};

inline constexpr std::string_view kDoneEvent = "data: [DONE]\n\n";

std::unique_ptr<AnswerFormat> make_chat_format(AnswerStart start);
std::unique_ptr<AnswerFormat> make_completions_format(AnswerStart start);
std::unique_ptr<AnswerFormat> make_generate_format(AnswerStart start);

}  // namespace camshaft::server
