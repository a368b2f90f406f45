#include "cli/vocabulary.h"

#include <filesystem>

#include "engine/engine.h"

namespace camshaft::cli {

Result<bool> names_engine(const std::string& model) {
  const std::filesystem::path path(model);
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return false;
  CS_ASSIGN_OR_RETURN(const bool is_engine, engine::is_engine_file(path));
  return is_engine || path.extension() == ".engine";
}

Result<checkpoint::Vocabulary> read_vocabulary(const std::string& model) {
  CS_ASSIGN_OR_RETURN(const bool is_engine, names_engine(model));
  if (is_engine) {
    CS_ASSIGN_OR_RETURN(const auto engine, engine::Engine::open_meta(model));
    return checkpoint::Vocabulary{engine->meta().tokenizer, engine->meta().prompt};
  }
  return checkpoint::open_vocabulary(model);
}

}  // namespace camshaft::cli
