// Parts of answers that several formats share, appended as JSON text: the hot path writes bytes, it builds no values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "generation/generation.h"
#include "server/openai/params.h"

namespace camshaft::server {

// What all objects of one answer have in common.
struct AnswerHead {
  std::string id;  // with its prefix
  std::string model;
  std::string fingerprint;
  int64_t created = 0;
};

void append_int(std::string& out, int64_t value);
// The shortest text that reads back to the same float; infinities and NaN as -9999.0, which clients expect.
void append_logprob(std::string& out, float value);
void append_ids(std::string& out, std::span<const int32_t> ids);
void append_ids(std::string& out, const std::vector<generation::PieceToken>& tokens);
// ,"prompt_token_ids":[...]
void append_prompt_ids(std::string& out, std::span<const int32_t> ids);
// {"id":...,"object":...,"created":...,"model":...,"system_fingerprint":...  without the closing brace
void append_head(std::string& out, const AnswerHead& head, std::string_view object);
void append_usage(std::string& out, const api::Usage& usage);
// "stop", "length": quotes included; null while it runs
void append_finish(std::string& out, api::FinishReason finish);
void append_stop_reason(std::string& out, const generation::Piece& piece);
// A logprob's token as JSON string: its text, or "token_id:N".
void append_token_name(std::string& out, const generation::PieceLogprob& logprob, bool as_id);

}  // namespace camshaft::server
