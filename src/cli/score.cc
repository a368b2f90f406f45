// camshaft score ENGINE --text FILE [--against ENGINE]: perplexity of a text, and how far two engines' distributions are apart.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "base/format.h"
#include "cli/commands.h"
#include "cli/open_model.h"
#include "runtime/vocab_math.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  std::string against;
  std::string text;
  int64_t chunk_tokens = 0;
  int64_t chunks = 0;
  bool json = false;
  ModelOptions model_options;
};

CommandSpec spec(State& s) {
  CommandSpec out{"score",
                  "Perplexity of an engine on a text, and KL divergence of another engine's distribution from it.",
                  {},
                  {},
                  &s.model_options.given};
  out.positionals.push_back({"ENGINE", "The reference: an engine file, or a checkpoint.", true, &s.model});
  out.options = {
      {"text", base::Text{"FILE"}, "", "The text, cut into chunks that are scored each on its own.", &s.text},
      {"against", base::Text{"ENGINE"}, "", "A second engine of the same vocabulary: KL(ENGINE || this one) is reported.",
       &s.against},
      {"chunk-tokens", base::IntRange{2, 65536}, "512", "Tokens a chunk.", &s.chunk_tokens},
      {"chunks", base::IntRange{1, 1 << 20}, "8", "Chunks at most.", &s.chunks},
      {"json", base::Flag{}, "", "Prints one JSON object.", &s.json},
  };
  for (base::Option& option : model_option_table(s.model_options, "1")) out.options.push_back(std::move(option));
  return out;
}

struct Scores {
  int64_t tokens = 0;
  double log_likelihood = 0;
  double kl_sum = 0;
  double kl_max = 0;
  int64_t same_top = 0;
};

double log_sum_exp(std::span<const float> row) { return runtime::log_sum_exp(row, *std::ranges::max_element(row)); }

// KL(p || q) of two rows of logits.
double kl_divergence(std::span<const float> p, std::span<const float> q) {
  const double p_total = log_sum_exp(p), q_total = log_sum_exp(q);
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const double log_p = static_cast<double>(p[i]) - p_total;
    sum += std::exp(log_p) * (log_p - (static_cast<double>(q[i]) - q_total));
  }
  return sum;
}

void score_rows(std::span<const int32_t> tokens, std::span<const float> p, std::span<const float> q, size_t vocab, Scores& scores) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    const auto row = p.subspan(i * vocab, vocab);
    scores.log_likelihood += static_cast<double>(row[static_cast<size_t>(tokens[i + 1])]) - log_sum_exp(row);
    ++scores.tokens;
    if (q.empty()) continue;
    const auto other = q.subspan(i * vocab, vocab);
    const double kl = kl_divergence(row, other);
    scores.kl_sum += kl;
    scores.kl_max = std::max(scores.kl_max, kl);
    scores.same_top += std::ranges::max_element(row) - row.begin() == std::ranges::max_element(other) - other.begin();
  }
}

Result<std::unique_ptr<runtime::PlanRunner>> runner_for(const std::string& model, const State& s,
                                                        std::shared_ptr<const engine::Engine>* engine) {
  ModelOptions options = s.model_options;
  options.max_seq_len = s.chunk_tokens;
  if (!s.against.empty()) options.given.clear();  // they may be for the other one
  CS_ASSIGN_OR_RETURN(*engine, open_engine(model, options));
  return open_runner(*engine, options);
}

Result<Scores> score(const State& s) {
  CS_ASSIGN_OR_RETURN(const std::string text, read_input_file("--text", s.text));
  std::shared_ptr<const engine::Engine> engine, other_engine;
  CS_ASSIGN_OR_RETURN(const auto runner, runner_for(s.model, s, &engine));
  std::unique_ptr<runtime::PlanRunner> other;
  if (!s.against.empty()) {
    CS_ASSIGN_OR_RETURN(other, runner_for(s.against, s, &other_engine));
    if (other->limits().vocab != runner->limits().vocab) {
      return base::invalid_argument(
          format("--against: its vocabulary has {} tokens, ENGINE's {}", other->limits().vocab, runner->limits().vocab));
    }
  }
  CS_ASSIGN_OR_RETURN(const text::Tokenizer tokenizer, text::Tokenizer::make(engine->meta().tokenizer));
  CS_ASSIGN_OR_RETURN(const auto ids, tokenizer.encode(text, text::SpecialAdding::kOff, text::SpecialParsing::kOff));
  const auto chunk = static_cast<size_t>(s.chunk_tokens);
  const size_t chunks = std::min(ids.size() / chunk, static_cast<size_t>(s.chunks));
  if (chunks == 0) return base::invalid_argument(format("--text: it has {} tokens, a chunk needs {}", ids.size(), chunk));
  std::vector<int32_t> rows(chunk);
  std::iota(rows.begin(), rows.end(), 0);
  Scores scores;
  for (size_t i = 0; i < chunks; ++i) {
    const auto tokens = std::span<const int32_t>(ids).subspan(i * chunk, chunk);
    CS_ASSIGN_OR_RETURN(const std::vector<float> p, runner->logits(tokens, rows));
    std::vector<float> q;
    if (other) {
      CS_ASSIGN_OR_RETURN(q, other->logits(tokens, rows));
    }
    score_rows(tokens, p, q, static_cast<size_t>(runner->limits().vocab), scores);
  }
  return scores;
}

Json report(const State& s, const Scores& scores) {
  const auto tokens = static_cast<double>(scores.tokens);
  Json json;
  json.set("tokens", scores.tokens);
  json.set("perplexity", std::exp(-scores.log_likelihood / tokens));
  if (s.against.empty()) return json;
  json.set("kl_mean", scores.kl_sum / tokens);
  json.set("kl_max", scores.kl_max);
  json.set("same_top", static_cast<double>(scores.same_top) / tokens);
  return json;
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("score", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  if (s.text.empty()) return report_failure("score", base::invalid_argument("--text FILE is missing"), FailedThing::kUsage);
  const auto scores = score(s);
  if (!scores.ok()) return report_failure("score", scores.status(), FailedThing::kEngine);
  const Json json = report(s, *scores);
  if (s.json) {
    std::puts(json.dump().c_str());
    return 0;
  }
  for (const auto& [name, value] : json.as_object()) std::printf("%-12s %s\n", name.c_str(), value.dump().c_str());
  return 0;
}

}  // namespace

const Command& score_command() {
  static const Command command = {"score", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
