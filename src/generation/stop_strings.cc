// Knuth-Morris-Pratt for each stop string, a byte at a time.
#include "generation/stop_strings.h"

#include <algorithm>
#include <utility>

namespace camshaft::generation {

StopStrings::StopStrings(std::vector<std::string> stops) {
  std::stable_sort(stops.begin(), stops.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (std::string& stop : stops) {
    Matcher matcher{.stop = std::move(stop)};
    matcher.fallback.resize(matcher.stop.size());
    for (size_t i = 1; i < matcher.stop.size(); ++i) {
      advance(matcher, matcher.stop[i]);
      matcher.fallback[i] = static_cast<uint32_t>(matcher.matched);
    }
    matcher.matched = 0;
    matchers_.push_back(std::move(matcher));
  }
}

// True when the text now ends with the stop string.
bool StopStrings::advance(Matcher& matcher, char c) {
  while (matcher.matched > 0 && matcher.stop[matcher.matched] != c) matcher.matched = matcher.fallback[matcher.matched - 1];
  if (matcher.stop[matcher.matched] == c) ++matcher.matched;
  return matcher.matched == matcher.stop.size();
}

StopStrings::Outcome StopStrings::push(std::string_view text) {
  for (const char c : text) {
    held_ += c;
    const Matcher* hit = nullptr;
    for (Matcher& matcher : matchers_) {
      if (advance(matcher, c) && hit == nullptr) hit = &matcher;
    }
    if (hit == nullptr) continue;
    held_.resize(held_.size() - hit->stop.size());
    return {std::exchange(held_, {}), hit->stop};
  }
  size_t keep = 0;
  for (const Matcher& matcher : matchers_) keep = std::max(keep, matcher.matched);
  Outcome out{held_.substr(0, held_.size() - keep), std::nullopt};
  held_.erase(0, held_.size() - keep);
  return out;
}

std::string StopStrings::finish() { return std::exchange(held_, {}); }

}  // namespace camshaft::generation
