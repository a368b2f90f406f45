// The answers of POST /generate: Camshaft's own small form. A stream has one event a token.
#include <utility>

#include "base/json.h"
#include "server/answer_format.h"

namespace camshaft::server {
namespace {

using generation::Piece;

class GenerateStream final : public AnswerFormat {
 public:
  explicit GenerateStream(AnswerStart start) : start_(std::move(start)) {}

  void add(const Piece& piece, std::string& out) override {
    const bool ends = piece.finish != api::FinishReason::kNone;
    const size_t tokens = piece.tokens.size();
    // Text belongs to the piece's last token.
    for (size_t i = 0; i + 1 < tokens; ++i) append_event(out, piece.tokens[i].id, "", nullptr);
    if (tokens == 0 && piece.text.empty() && !ends) return;
    append_event(out, tokens > 0 ? piece.tokens.back().id : -1, piece.text, ends ? &piece : nullptr);
  }

  void finish(std::string& out) override { out.append(kDoneEvent); }

 private:
  // Token -1: none, only text that was held back, or the end.
  void append_event(std::string& out, int32_t token, std::string_view text, const Piece* last) {
    out.append("data: {\"id\":\"").append(start_.head.id).append("\",\"index\":");
    append_int(out, token >= 0 ? index_++ : index_);
    out.append(",\"token\":");
    if (token >= 0) {
      append_int(out, token);
    } else {
      out.append("null");
    }
    out.append(",\"text\":");
    base::append_json_string(out, text);
    out.append(",\"finish_reason\":");
    append_finish(out, last == nullptr ? api::FinishReason::kNone : last->finish);
    if (last != nullptr) {
      out.append(",\"usage\":");
      append_usage(out, last->usage);
    }
    out.append("}\n\n");
  }

  AnswerStart start_;
  int64_t index_ = 0;
};

class GenerateWhole final : public AnswerFormat {
 public:
  explicit GenerateWhole(AnswerStart start) : start_(std::move(start)) {}

  void add(const Piece& piece, std::string&) override {
    text_.append(piece.text);
    finish_ = piece.finish;
    usage_ = piece.usage;
  }

  void finish(std::string& out) override {
    out.append("{\"id\":\"").append(start_.head.id).append("\",\"model\":");
    base::append_json_string(out, start_.head.model);
    out.append(",\"text\":");
    base::append_json_string(out, text_);
    out.append(",\"finish_reason\":");
    append_finish(out, finish_);
    out.append(",\"usage\":");
    append_usage(out, usage_);
    out.append("}");
  }

 private:
  AnswerStart start_;
  std::string text_;
  api::FinishReason finish_ = api::FinishReason::kNone;
  api::Usage usage_;
};

}  // namespace

std::unique_ptr<AnswerFormat> make_generate_format(AnswerStart start) {
  if (start.stream) return std::make_unique<GenerateStream>(std::move(start));
  return std::make_unique<GenerateWhole>(std::move(start));
}

}  // namespace camshaft::server
