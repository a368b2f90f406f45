#include "base/clock.h"

namespace camshaft::base {
namespace {
class MachineClock final : public Clock {
 public:
  SteadyTime now() const override { return std::chrono::steady_clock::now(); }
};
}  // namespace

const Clock& steady_clock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace camshaft::base
