// ModelEntry: what cli assembles from an engine and hands to server, run and bench.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "api/request.h"
#include "api/tokenizer_spec.h"
#include "executor/executor.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace camshaft::generation {

// Shared by all threads, immutable but for the executor.
struct ModelEntry {
  std::string name;  // the id clients use
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::unique_ptr<text::ChatTemplate> chat_template;  // null: the model has none
  api::PromptSpec prompt;
  std::unique_ptr<executor::Executor> executor;
  int64_t created_unix = 0;
};

// The model's own sampling defaults (generation_config.json) over ours. The seed is the caller's to draw.
api::SamplingParams default_sampling(const ModelEntry& entry);

}  // namespace camshaft::generation
