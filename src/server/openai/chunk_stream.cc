#include "server/openai/chunk_stream.h"

#include <utility>

namespace camshaft::server {

ChunkStream::ChunkStream(AnswerStart start, std::string_view object) : start_(std::move(start)), opening_("data: ") {
  append_head(opening_, start_.head, object);
}

void ChunkStream::close(const generation::Piece& piece, std::string& out) {
  usage_ = piece.usage;
  if (start_.continuous_usage) {
    out.append(",\"usage\":");
    append_usage(out, usage_);
  } else if (start_.include_usage) {
    out.append(",\"usage\":null");
  }
  out.append("}\n\n");
}

bool ChunkStream::has_extras(const generation::Piece& piece) const {
  return !piece.tokens.empty() && (start_.logprobs || start_.return_token_ids);
}

void ChunkStream::finish(std::string& out) {
  if (start_.include_usage) {
    out.append(opening_).append(",\"choices\":[],\"usage\":");
    append_usage(out, usage_);
    out.append("}\n\n");
  }
  out.append(kDoneEvent);
}

}  // namespace camshaft::server
