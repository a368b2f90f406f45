// The answers of POST /v1/chat/completions.
#include <utility>

#include "base/json.h"
#include "server/openai/chunk_stream.h"

namespace camshaft::server {
namespace {

using generation::Piece;
using generation::PieceLogprob;
using generation::PieceToken;

void append_bytes(std::string& out, std::string_view bytes) {
  out += '[';
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += ',';
    append_int(out, static_cast<unsigned char>(bytes[i]));
  }
  out += ']';
}

// {"token":...,"logprob":...,"bytes":[...]  without the closing brace
void append_entry(std::string& out, const PieceLogprob& logprob, bool as_id) {
  out.append("{\"token\":");
  append_token_name(out, logprob, as_id);
  out.append(",\"logprob\":");
  append_logprob(out, logprob.logprob);
  out.append(",\"bytes\":");
  append_bytes(out, logprob.bytes);
}

void append_token_logprobs(std::string& out, const PieceToken& token, bool as_id) {
  append_entry(out, *token.logprob, as_id);
  out.append(",\"top_logprobs\":[");
  for (size_t i = 0; i < token.top.size(); ++i) {
    if (i > 0) out += ',';
    append_entry(out, token.top[i], as_id);
    out += '}';
  }
  out.append("]}");
}

void append_content_logprobs(std::string& out, const std::vector<PieceToken>& tokens, bool as_id) {
  out.append("{\"content\":[");
  bool first = true;
  for (const PieceToken& token : tokens) {
    if (!token.logprob) continue;
    if (!std::exchange(first, false)) out += ',';
    append_token_logprobs(out, token, as_id);
  }
  out.append("],\"refusal\":null}");
}

class ChatStream final : public ChunkStream {
 public:
  explicit ChatStream(AnswerStart start) : ChunkStream(std::move(start), "chat.completion.chunk") {}

  void add(const Piece& piece, std::string& out) override {
    const bool ends = piece.finish != api::FinishReason::kNone;
    const bool has_content = !piece.text.empty() || has_extras(piece);
    if (!has_content && !ends) return;
    if (!std::exchange(begun_, true)) append_role(piece, out);
    if (has_content) append_content(piece, out);
    if (ends) append_end(piece, out);
  }

 private:
  void open(std::string& out) const { out.append(opening()).append(",\"choices\":[{\"index\":0,\"delta\":{"); }

  void append_role(const Piece& piece, std::string& out) {
    open(out);
    out.append("\"role\":\"assistant\",\"content\":\"\"},\"logprobs\":null,\"finish_reason\":null}]");
    if (start_.return_token_ids) append_prompt_ids(out, start_.prompt_ids);
    close(piece, out);
  }

  void append_content(const Piece& piece, std::string& out) {
    open(out);
    out.append("\"content\":");
    base::append_json_string(out, piece.text);
    out.append("},\"logprobs\":");
    if (start_.logprobs && !piece.tokens.empty()) {
      append_content_logprobs(out, piece.tokens, start_.tokens_as_ids);
    } else {
      out.append("null");
    }
    out.append(",\"finish_reason\":null");
    if (start_.return_token_ids) {
      out.append(",\"token_ids\":");
      append_ids(out, piece.tokens);
    }
    out.append("}]");
    close(piece, out);
  }

  void append_end(const Piece& piece, std::string& out) {
    open(out);
    out.append("},\"logprobs\":null,\"finish_reason\":");
    append_finish(out, piece.finish);
    out.append(",\"stop_reason\":");
    append_stop_reason(out, piece);
    out.append("}]");
    close(piece, out);
  }

  bool begun_ = false;
};

class ChatWhole final : public AnswerFormat {
 public:
  explicit ChatWhole(AnswerStart start) : start_(std::move(start)) {}

  void add(const Piece& piece, std::string&) override {
    text_.append(piece.text);
    if (start_.logprobs || start_.return_token_ids) tokens_.insert(tokens_.end(), piece.tokens.begin(), piece.tokens.end());
    if (piece.finish == api::FinishReason::kNone) return;
    append_finish(ending_, piece.finish);
    ending_.append(",\"stop_reason\":");
    append_stop_reason(ending_, piece);
    usage_ = piece.usage;
  }

  void finish(std::string& out) override {
    append_head(out, start_.head, "chat.completion");
    out.append(",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":");
    base::append_json_string(out, text_);
    out.append(",\"refusal\":null},\"logprobs\":");
    if (start_.logprobs) {
      append_content_logprobs(out, tokens_, start_.tokens_as_ids);
    } else {
      out.append("null");
    }
    out.append(",\"finish_reason\":").append(ending_);
    if (start_.return_token_ids) {
      out.append(",\"token_ids\":");
      append_ids(out, tokens_);
    }
    out.append("}],\"usage\":");
    append_usage(out, usage_);
    if (start_.return_token_ids) append_prompt_ids(out, start_.prompt_ids);
    out.append("}");
  }

 private:
  AnswerStart start_;
  std::string text_;
  std::vector<PieceToken> tokens_;
  std::string ending_;  // finish reason and stop reason, as JSON
  api::Usage usage_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_chat_format(AnswerStart start) {
  if (start.stream) return std::make_unique<ChatStream>(std::move(start));
  return std::make_unique<ChatWhole>(std::move(start));
}

}  // namespace camshaft::server
