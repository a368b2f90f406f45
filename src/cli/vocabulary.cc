#include "cli/vocabulary.h"

#include <filesystem>

#include "engine/engine.h"

namespace camshaft::cli {

Result<checkpoint::Vocabulary> read_vocabulary(const std::string& model) {
  if (!std::filesystem::is_directory(model)) {
    CS_ASSIGN_OR_RETURN(const bool is_engine, engine::is_engine_file(model));
    if (is_engine) {
      CS_ASSIGN_OR_RETURN(const auto engine, engine::Engine::open_meta(model));
      return checkpoint::Vocabulary{engine->meta().tokenizer, engine->meta().prompt};
    }
  }
  return checkpoint::open_vocabulary(model);
}

}  // namespace camshaft::cli
