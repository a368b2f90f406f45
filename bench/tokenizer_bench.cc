// Speed of encoding and decoding on one thread: tokenizer_bench VOCABULARY TEXT-FILE [SECONDS]. Prints MiB per second of processor
// time, best pass.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sstream>

#include "checkpoint/checkpoint.h"
#include "text/tokenizer.h"

namespace {

// Processor time of this thread: other work on the machine disturbs it less than wall time.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int fail(const camshaft::Status& status) {
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}

template <typename Work>
double best_seconds(double budget, Work work) {
  double best = 1e9;
  for (const double start = now(); now() - start < budget;) {
    const double pass = now();
    work();
    best = std::min(best, now() - pass);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace camshaft;
  if (argc < 3) {
    std::fprintf(stderr, "usage: tokenizer_bench VOCABULARY TEXT-FILE [SECONDS]\n");
    return 2;
  }
  std::ifstream in(argv[2], std::ios::binary);
  std::ostringstream buffer;
  buffer << in.rdbuf();
  const std::string text = buffer.str();
  const double budget = argc > 3 ? std::atof(argv[3]) : 3.0;

  auto vocabulary = checkpoint::open_vocabulary(argv[1]);
  if (!vocabulary.ok()) return fail(vocabulary.status());
  const double start = now();
  const auto tokenizer = text::Tokenizer::make(std::move(vocabulary->tokenizer));
  if (!tokenizer.ok()) return fail(tokenizer.status());
  const double make_seconds = now() - start;

  const auto encode = [&] { return tokenizer->encode(text, text::SpecialAdding::kOff, text::SpecialParsing::kOff); };
  const auto ids = encode();
  if (!ids.ok()) return fail(ids.status());
  const double mib = static_cast<double>(text.size()) / (1 << 20);
  const double encode_seconds = best_seconds(budget, encode);
  const double decode_seconds =
      best_seconds(budget / 3, [&] { return tokenizer->decode(*ids, text::Tokenizer::ShowSpecial::kNo); });
  std::printf("{\"bytes\": %zu, \"tokens\": %zu, \"make_ms\": %.1f, \"encode_mib_s\": %.1f, \"decode_mib_s\": %.1f}\n", text.size(),
              ids->size(), make_seconds * 1e3, mib / encode_seconds, mib / decode_seconds);
  return 0;
}
