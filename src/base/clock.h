// Clock: steady time behind an interface, so that the simulator can run on its own time. Only steady time governs limits.
#pragma once

#include <chrono>

namespace camshaft::base {

using SteadyTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual SteadyTime now() const = 0;
};

// The machine's own clock; the object lives as long as the process.
const Clock& steady_clock();

inline double seconds_between(SteadyTime from, SteadyTime to) { return std::chrono::duration<double>(to - from).count(); }

}  // namespace camshaft::base
