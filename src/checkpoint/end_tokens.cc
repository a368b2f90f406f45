// End markers of published chat formats, recognised by their text where files do not name them.
#include "checkpoint/end_tokens.h"

#include <algorithm>
#include <string_view>

namespace camshaft::checkpoint {
namespace {

constexpr std::string_view kEndMarkers[] = {"<|im_end|>",
                                            "<|endoftext|>",
                                            "<|eot_id|>",
                                            "<|eom_id|>",
                                            "<|end|>",
                                            "<|return|>",
                                            "<|call|>",
                                            "<|end_of_text|>",
                                            "<end_of_turn>",
                                            "<turn|>",
                                            "</s>",
                                            "<eos>",
                                            "<|eot|>",
                                            "<|eos|>",
                                            "<EOT>",
                                            "[EOT]",
                                            "[EOS]",
                                            "[e~[",
                                            "<end_of_utterance>",
                                            "<|user_end|>",
                                            "<|end_of_turn|>",
                                            "<|END_OF_TURN_TOKEN|>",
                                            "<|flush|>",
                                            "<｜end▁of▁sentence｜>"};

bool is_control_with(const api::TokenizerSpec& spec, size_t id, std::string_view text) {
  return spec.kinds[id] == api::TokenKind::kControl && spec.tokens[id] == text;
}

bool has_control(const api::TokenizerSpec& spec, std::string_view text) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (is_control_with(spec, id, text)) return true;
  }
  return false;
}

}  // namespace

std::vector<int32_t> find_end_ids(const api::TokenizerSpec& spec, const std::vector<int32_t>& first) {
  std::vector<int32_t> ids;
  const auto add = [&ids](int32_t id) {
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  };
  for (int32_t id : first) add(id);
  // In the channel format <|end|> ends one message of an answer, <|return|> and <|call|> end the answer.
  const bool channels = has_control(spec, "<|return|>") && has_control(spec, "<|call|>");
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != api::TokenKind::kControl || (channels && spec.tokens[id] == "<|end|>")) continue;
    if (std::find(std::begin(kEndMarkers), std::end(kEndMarkers), spec.tokens[id]) != std::end(kEndMarkers))
      add(static_cast<int32_t>(id));
  }
  return ids;
}

}  // namespace camshaft::checkpoint
