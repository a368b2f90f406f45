// camshaft tokenize MODEL: text on standard input to a JSON array of ids, and back.
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/format.h"
#include "checkpoint/checkpoint.h"
#include "cli/commands.h"
#include "cli/vocabulary.h"
#include "text/tokenizer.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  bool no_add_special = false;
  bool no_parse_special = false;
  bool decode = false;
};

CommandSpec spec(State& s) {
  CommandSpec out{"tokenize", "Turns text on standard input into a JSON array of token ids, or back.", {}, {}};
  out.positionals.push_back({"MODEL", "A GGUF file, a folder, a tokenizer.json or an engine.", true, &s.model});
  out.options = {
      {"no-add-special", base::Flag{}, "", "Adds no BOS or EOS.", &s.no_add_special},
      {"no-parse-special", base::Flag{}, "", "Takes control tokens in the text as ordinary characters.", &s.no_parse_special},
      {"decode", base::Flag{}, "", "Reads a JSON array of ids and prints the text.", &s.decode},
  };
  return out;
}

Result<std::string> read_standard_input() {
  std::string text;
  char buffer[65536];
  while (true) {
    const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return base::io_error("cannot read standard input", errno);
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
  }
}

Status encode(const text::Tokenizer& tokenizer, const State& s, const std::string& input) {
  CS_ASSIGN_OR_RETURN(const auto ids,
                      tokenizer.encode(input, s.no_add_special ? text::SpecialAdding::kOff : text::SpecialAdding::kOn,
                                       s.no_parse_special ? text::SpecialParsing::kOff : text::SpecialParsing::kOn));
  base::JsonArray array;
  for (const int32_t id : ids) array.push_back(id);
  std::puts(Json(std::move(array)).dump().c_str());
  return base::ok_status();
}

Status decode(const text::Tokenizer& tokenizer, const std::string& input) {
  base::JsonLimits limits;
  limits.max_values = 64 << 20;
  CS_ASSIGN_OR_RETURN(const Json json, base::parse_json(input, limits));
  if (!json.is_array())
    return base::invalid_argument(format("standard input is a JSON {}, expected an array of ids", json.kind_name()));
  std::vector<int32_t> ids;
  for (const Json& item : json.as_array()) {
    const int64_t* id = item.int_if();
    if (id == nullptr || *id < 0 || *id >= tokenizer.vocab_size()) {
      return base::invalid_argument(
          format("element {} is {}, expected an id from 0 to {}", ids.size(), item.dump(), tokenizer.vocab_size() - 1));
    }
    ids.push_back(static_cast<int32_t>(*id));
  }
  const std::string text = tokenizer.decode(ids, text::Tokenizer::ShowSpecial::kYes);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return base::ok_status();
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("tokenize", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  auto vocabulary = read_vocabulary(s.model);
  if (!vocabulary.ok()) return report_failure("tokenize", vocabulary.status(), FailedThing::kCheckpoint);
  const auto tokenizer = text::Tokenizer::make(std::move(vocabulary->tokenizer));
  if (!tokenizer.ok()) return report_failure("tokenize", tokenizer.status(), FailedThing::kCheckpoint);
  const auto input = read_standard_input();
  if (!input.ok()) return report_failure("tokenize", input.status(), FailedThing::kRequest);
  const Status status = s.decode ? decode(*tokenizer, *input) : encode(*tokenizer, s, *input);
  return status.ok() ? 0 : report_failure("tokenize", status, FailedThing::kRequest);
}

}  // namespace

const Command& tokenize_command() {
  static const Command command = {"tokenize", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
