// The answers of POST /v1/completions.
#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "server/openai/chunk_stream.h"

namespace camshaft::server {
namespace {

using generation::Piece;
using generation::PieceLogprob;
using generation::PieceToken;

// One token's {"text": logprob, ...}: the best ones, and the sampled one where it is not among them. Of two ids with one text the
// better stays: entries come best first.
void append_top(std::string& out, const PieceToken& token, bool as_ids) {
  std::vector<std::string> names;
  out += '{';
  const auto add = [&](const PieceLogprob& logprob) {
    std::string name;
    append_token_name(name, logprob, as_ids);
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    if (!names.empty()) out += ',';
    out.append(name).append(":");
    append_logprob(out, logprob.logprob);
    names.push_back(std::move(name));
  };
  for (const PieceLogprob& logprob : token.top) add(logprob);
  add(*token.logprob);
  out += '}';
}

// The four parallel lists of the completions' logprobs; the offset goes on through a stream.
class LogprobLists {
 public:
  explicit LogprobLists(bool as_ids) : as_ids_(as_ids) {}

  void append(std::string& out, const std::vector<PieceToken>& tokens) {
    std::string names, values, tops, offsets;
    for (const PieceToken& token : tokens) {
      if (!token.logprob) continue;
      if (!names.empty()) {
        for (std::string* list : {&names, &values, &tops, &offsets}) *list += ',';
      }
      append_token_name(names, *token.logprob, as_ids_);
      append_logprob(values, token.logprob->logprob);
      append_top(tops, token, as_ids_);
      append_int(offsets, offset_);
      offset_ += static_cast<int64_t>(base::count_code_points(token.logprob->token));
    }
    out.append("{\"tokens\":[").append(names).append("],\"token_logprobs\":[").append(values);
    out.append("],\"top_logprobs\":[").append(tops).append("],\"text_offset\":[").append(offsets).append("]}");
  }

 private:
  bool as_ids_;
  int64_t offset_ = 0;  // in code points of the output
};

// The choice of a chunk, or of the whole answer, without the closing brace.
void append_choice(std::string& out, const Piece& piece, const AnswerStart& start, LogprobLists& lists) {
  out.append(",\"choices\":[{\"index\":0,\"text\":");
  base::append_json_string(out, piece.text);
  out.append(",\"logprobs\":");
  if (start.logprobs) {
    lists.append(out, piece.tokens);
  } else {
    out.append("null");
  }
  out.append(",\"finish_reason\":");
  append_finish(out, piece.finish);
  if (piece.finish != api::FinishReason::kNone) {
    out.append(",\"stop_reason\":");
    append_stop_reason(out, piece);
  }
  if (start.return_token_ids) {
    out.append(",\"token_ids\":");
    append_ids(out, piece.tokens);
  }
}

class CompletionsStream final : public ChunkStream {
 public:
  explicit CompletionsStream(AnswerStart start) : ChunkStream(std::move(start), "text_completion"), lists_(start_.tokens_as_ids) {}

  void add(const Piece& piece, std::string& out) override {
    if (piece.text.empty() && !has_extras(piece) && piece.finish == api::FinishReason::kNone) return;
    out.append(opening());
    append_choice(out, piece, start_, lists_);
    if (!std::exchange(begun_, true) && start_.return_token_ids) append_prompt_ids(out, start_.prompt_ids);
    out.append("}]");
    close(piece, out);
  }

 private:
  LogprobLists lists_;
  bool begun_ = false;
};

class CompletionsWhole final : public AnswerFormat {
 public:
  explicit CompletionsWhole(AnswerStart start) : start_(std::move(start)) {}

  void add(const Piece& piece, std::string&) override {
    all_.text.append(piece.text);
    if (start_.logprobs || start_.return_token_ids) all_.tokens.insert(all_.tokens.end(), piece.tokens.begin(), piece.tokens.end());
    all_.finish = piece.finish;
    all_.stop_reason = piece.stop_reason;
    all_.usage = piece.usage;
  }

  void finish(std::string& out) override {
    LogprobLists lists(start_.tokens_as_ids);
    append_head(out, start_.head, "text_completion");
    append_choice(out, all_, start_, lists);
    if (start_.return_token_ids) append_prompt_ids(out, start_.prompt_ids);
    out.append("}],\"usage\":");
    append_usage(out, all_.usage);
    out.append("}");
  }

 private:
  AnswerStart start_;
  Piece all_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_completions_format(AnswerStart start) {
  if (start.stream) return std::make_unique<CompletionsStream>(std::move(start));
  return std::make_unique<CompletionsWhole>(std::move(start));
}

}  // namespace camshaft::server
