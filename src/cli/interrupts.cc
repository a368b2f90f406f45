#include "cli/interrupts.h"

#include <unistd.h>

#include <utility>

namespace camshaft::cli {
namespace {

constexpr int kEndedBySignal = 128;  // plus the signal, as shells count it

}  // namespace

bool is_ignored(int signal) {
  struct sigaction now {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

Interrupts::Interrupts(std::initializer_list<int> signals) {
  sigemptyset(&set_);
  for (const int signal : signals) sigaddset(&set_, signal);
  if (signals.size() == 0) return;
  first_ = *signals.begin();
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  thread_ = std::thread([this] { run(); });
}

Interrupts::~Interrupts() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  pthread_kill(thread_.native_handle(), first_);
  thread_.join();
  pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
}

void Interrupts::on_next(std::function<void()> action) {
  const std::lock_guard lock(mutex_);
  action_ = std::move(action);
}

void Interrupts::run() {
  while (true) {
    int signal = 0;
    if (sigwait(&set_, &signal) != 0) continue;
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    if (!action_) _exit(kEndedBySignal + signal);
    std::exchange(action_, {})();
  }
}

}  // namespace camshaft::cli
