// A chat's input from a pipe and from a terminal (a pseudo one).
#include "cli/chat_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <termios.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <thread>

#include "cli/test_terminal.h"

namespace camshaft::cli {
namespace {

void send(int descriptor, std::string_view bytes) {
  ASSERT_EQ(::write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
}

TEST(ChatInput, APipesLinesAreMessages) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  send(ends[1], "one\n\nthree " + std::string(5000, 'x') + "\nlast");
  close(ends[1]);
  ChatInput input(ends[0]);
  EXPECT_FALSE(input.terminal());
  EXPECT_EQ(input.next(), "one");
  EXPECT_EQ(input.next(), "");
  EXPECT_EQ(input.next(), "three " + std::string(5000, 'x'));
  EXPECT_EQ(input.next(), "last");
  EXPECT_EQ(input.next(), std::nullopt);
  close(ends[0]);
}

class OnTerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (!terminal_.exists()) GTEST_SKIP() << "no pseudo terminals here";
    program_ = open(terminal_.name().c_str(), O_RDWR | O_NOCTTY);
    ASSERT_GE(program_, 0);
    // Without echo, which nobody reads here.
    termios settings{};
    tcgetattr(program_, &settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(program_, TCSANOW, &settings);
  }
  void TearDown() override {
    if (program_ >= 0) close(program_);
  }
  void type(std::string_view bytes) { send(terminal_.user(), bytes); }

  TestTerminal terminal_;
  int program_ = -1;
};

TEST_F(OnTerminal, LinesThatCameTogetherAreOneMessage) {
  ChatInput input(program_);
  EXPECT_TRUE(input.terminal());
  type("first\n\nsecond\n");
  EXPECT_EQ(input.next(), "first\n\nsecond");
  type("alone\n");
  EXPECT_EQ(input.next(), "alone");
  type("\x04");
  EXPECT_EQ(input.next(), std::nullopt);
}

// Reads `descriptor` until `words` came or it ends.
std::string read_until(int descriptor, std::string_view words) {
  std::string text;
  char byte = 0;
  while (text.find(words) == std::string::npos && ::read(descriptor, &byte, 1) == 1) text += byte;
  return text;
}

TEST_F(OnTerminal, ACutLineIsNotSentAsIfItWereWhole) {
  ChatInput input(program_);
  type(std::string(4000, 'a'));
  type(std::string(1000, 'b') + "\n");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int old_stderr = dup(STDERR_FILENO);
  dup2(ends[1], STDERR_FILENO);
  std::string said;
  std::thread user([&] {  // types on when the refusal of the first line is there
    said = read_until(ends[0], "4095 bytes");
    type("short\n");
  });
  const std::optional<std::string> got = input.next();
  dup2(old_stderr, STDERR_FILENO);
  close(ends[1]);
  user.join();
  close(ends[0]);
  close(old_stderr);
  EXPECT_NE(said.find("4095 bytes"), std::string::npos) << said;
  EXPECT_EQ(got, "short");
}

}  // namespace
}  // namespace camshaft::cli
