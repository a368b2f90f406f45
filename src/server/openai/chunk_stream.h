// ChunkStream: what the event streams of both OpenAI endpoints share: how an event opens, the usage in it, how the stream ends.
#pragma once

#include <string>
#include <string_view>

#include "server/answer_format.h"

namespace camshaft::server {

class ChunkStream : public AnswerFormat {
 public:
  ChunkStream(AnswerStart start, std::string_view object);
  void finish(std::string& out) final;

 protected:
  // Up to the choices.
  const std::string& opening() const { return opening_; }
  // Behind the choices: usage, and the end of the event.
  void close(const generation::Piece& piece, std::string& out);
  // Whether the piece has tokens that the client wants to see, text or not.
  bool has_extras(const generation::Piece& piece) const;

  const AnswerStart start_;

 private:
  std::string opening_;
  api::Usage usage_;
};

}  // namespace camshaft::server
