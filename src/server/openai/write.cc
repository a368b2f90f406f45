#include "server/openai/write.h"

#include <charconv>
#include <cmath>

#include "base/json.h"

namespace camshaft::server {
namespace {

template <typename Range, typename GetId>
void append_id_list(std::string& out, const Range& range, GetId get_id) {
  out += '[';
  bool first = true;
  for (const auto& element : range) {
    if (!first) out += ',';
    first = false;
    append_int(out, get_id(element));
  }
  out += ']';
}

}  // namespace

void append_int(std::string& out, int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void append_logprob(std::string& out, float value) {
  if (!std::isfinite(value)) {
    out.append("-9999.0");
    return;
  }
  char digits[48];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void append_ids(std::string& out, std::span<const int32_t> ids) {
  append_id_list(out, ids, [](int32_t id) { return id; });
}

void append_ids(std::string& out, const std::vector<generation::PieceToken>& tokens) {
  append_id_list(out, tokens, [](const generation::PieceToken& token) { return token.id; });
}

void append_prompt_ids(std::string& out, std::span<const int32_t> ids) {
  out.append(",\"prompt_token_ids\":");
  append_ids(out, ids);
}

void append_head(std::string& out, const AnswerHead& head, std::string_view object) {
  out.append("{\"id\":\"").append(head.id).append("\",\"object\":\"").append(object).append("\",\"created\":");
  append_int(out, head.created);
  out.append(",\"model\":");
  base::append_json_string(out, head.model);
  out.append(",\"system_fingerprint\":\"").append(head.fingerprint).append("\"");
}

void append_usage(std::string& out, const api::Usage& usage) {
  out.append("{\"prompt_tokens\":");
  append_int(out, usage.prompt_tokens);
  out.append(",\"completion_tokens\":");
  append_int(out, usage.completion_tokens);
  out.append(",\"total_tokens\":");
  append_int(out, int64_t{usage.prompt_tokens} + usage.completion_tokens);
  out.append(",\"prompt_tokens_details\":{\"cached_tokens\":");
  append_int(out, usage.cached_tokens);
  out.append("},\"completion_tokens_details\":{\"reasoning_tokens\":0}}");
}

void append_finish(std::string& out, api::FinishReason finish) {
  if (finish == api::FinishReason::kNone) {
    out.append("null");
  } else {
    out.append("\"").append(api::finish_reason_name(finish)).append("\"");
  }
}

void append_stop_reason(std::string& out, const generation::Piece& piece) {
  if (const auto* text = std::get_if<std::string>(&piece.stop_reason)) {
    base::append_json_string(out, *text);
  } else if (const auto* id = std::get_if<int32_t>(&piece.stop_reason)) {
    append_int(out, *id);
  } else {
    out.append("null");
  }
}

void append_token_name(std::string& out, const generation::PieceLogprob& logprob, bool as_id) {
  if (!as_id) return base::append_json_string(out, logprob.token);
  out.append("\"token_id:");
  append_int(out, logprob.id);
  out += '"';
}

}  // namespace camshaft::server
