// Ctrl-C: each action once, then the end of the process.
#include "cli/interrupts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <future>

namespace camshaft::cli {
namespace {

TEST(Interrupts, RunWhatIsToBeStopped) {
  Interrupts interrupts({SIGINT, SIGTERM});
  for (int i = 0; i < 3; ++i) {
    std::promise<void> ran;
    interrupts.on_next([&ran] { ran.set_value(); });
    kill(getpid(), SIGINT);
    ran.get_future().wait();
  }
}

TEST(InterruptsDeathTest, EndTheProcessOtherwise) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Interrupts interrupts({SIGINT, SIGTERM});
        std::promise<void> ran;
        interrupts.on_next([&ran] { ran.set_value(); });
        kill(getpid(), SIGINT);
        ran.get_future().wait();
        kill(getpid(), SIGTERM);
        pause();
      },
      testing::ExitedWithCode(128 + SIGTERM), "");
}

}  // namespace
}  // namespace camshaft::cli
