// StopStrings: finds stop strings in streamed text, wherever tokens cut it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace camshaft::generation {

// push() gives what is certain to stay, and holds back what may begin a stop string. The string that is complete first wins, the
// longer one where two end together: the outcome does not depend on how the text was cut. Linear in the text for each string.
class StopStrings {
 public:
  // None of them is empty.
  explicit StopStrings(std::vector<std::string> stops);
  struct Outcome {
    std::string text;                // to emit now
    std::optional<std::string> hit;  // the stop string found; text ends before it
  };
  Outcome push(std::string_view text);
  std::string finish();  // what was held back

 private:
  struct Matcher {
    std::string stop;
    std::vector<uint32_t>
        fallback;        // [i]: the longest beginning of `stop` that also ends its first i + 1 bytes, but not all of them
    size_t matched = 0;  // bytes of `stop` that the text ends with
  };
  static bool advance(Matcher& matcher, char c);

  std::vector<Matcher> matchers_;  // longest first
  std::string held_;
};

}  // namespace camshaft::generation
