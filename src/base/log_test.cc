// Each case runs in a child process, whose stderr it reads: the log is one for the process.
#include "base/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace camshaft::base {
namespace {

[[noreturn]] void log_and_exit(LogLevel level, LogFormat line_format, std::string_view message) {
  configure_log(level, line_format);
  log_message(LogLevel::kInfo, "not written above info");
  log_message(LogLevel::kError, message);
  std::exit(3);  // runs destructors: what is queued is written first
}

class LogDeathTest : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(LogDeathTest, TextLines) {
  EXPECT_EXIT(log_and_exit(LogLevel::kWarn, LogFormat::kText, "two\nlines \x1b[2J"), ::testing::ExitedWithCode(3),
              "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z error two\\\\nlines \\\\x1b\\[2J\n$");
}

TEST_F(LogDeathTest, JsonLines) {
  EXPECT_EXIT(log_and_exit(LogLevel::kError, LogFormat::kJson, "a \"quote\" and \xFF"), ::testing::ExitedWithCode(3),
              "^\\{\"ts\":\"[0-9T:.-]+Z\",\"level\":\"error\",\"msg\":\"a \\\\\"quote\\\\\" and \xEF\xBF\xBD\"\\}\n$");
}

TEST_F(LogDeathTest, OffIsSilent) {
  EXPECT_EXIT(log_and_exit(LogLevel::kOff, LogFormat::kText, "nothing"), ::testing::ExitedWithCode(3), "^$");
}

TEST_F(LogDeathTest, LongMessagesAreCut) {
  EXPECT_EXIT(log_and_exit(LogLevel::kInfo, LogFormat::kJson, std::string(100'000, '\x01')), ::testing::ExitedWithCode(3),
              "(u0001.){300}");
}

[[noreturn]] void log_to_a_pipe_nobody_reads() {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const int old_stderr = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  configure_log(LogLevel::kInfo, LogFormat::kText);
  for (int i = 0; i < 50'000; ++i) log_info("line {} that fills the pipe and then the queue", i);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const bool counted = log_lines_dropped() > 1000;
  dup2(old_stderr, STDERR_FILENO);
  std::exit(counted ? 3 : 1);
}

TEST_F(LogDeathTest, AStuckReaderCostsLinesNotTime) { EXPECT_EXIT(log_to_a_pipe_nobody_reads(), ::testing::ExitedWithCode(3), ""); }

}  // namespace
}  // namespace camshaft::base
