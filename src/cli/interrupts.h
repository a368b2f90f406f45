// Ctrl-C and the like: a signal does what the command has set for it, once; otherwise it ends the program at once.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <thread>

namespace camshaft::cli {

class Interrupts {
 public:
  // Before other threads start: they inherit that the signals are blocked, and a thread of this object's waits for them.
  explicit Interrupts(std::initializer_list<int> signals);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // What the next signal does instead of ending the program, once; empty: it ends it. Runs in the waiting thread.
  void on_next(std::function<void()> action);

 private:
  void run();

  sigset_t set_;
  int first_ = 0;  // any one of the signals: it also wakes the thread for its end
  std::mutex mutex_;
  std::function<void()> action_;
  bool stopping_ = false;
  std::thread thread_;
};

// A background job of a script has SIGINT ignored, and a command that is not a server leaves it so.
bool is_ignored(int signal);

}  // namespace camshaft::cli
