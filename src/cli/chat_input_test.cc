// A chat's input from a pipe and from a terminal (a pseudo one).
#include "cli/chat_input.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

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
  OnTerminal() {
    user_ = posix_openpt(O_RDWR | O_NOCTTY);
    EXPECT_EQ(grantpt(user_) | unlockpt(user_), 0);
    program_ = open(ptsname(user_), O_RDWR | O_NOCTTY);
    EXPECT_GE(program_, 0);
    // Without echo, which nobody reads here.
    termios settings{};
    tcgetattr(program_, &settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(program_, TCSANOW, &settings);
  }
  ~OnTerminal() override {
    close(program_);
    close(user_);
  }
  int user_ = -1;
  int program_ = -1;
};

TEST_F(OnTerminal, LinesThatCameTogetherAreOneMessage) {
  ChatInput input(program_);
  EXPECT_TRUE(input.terminal());
  send(user_, "first\n\nsecond\n");
  EXPECT_EQ(input.next(), "first\n\nsecond");
  send(user_, "alone\n");
  EXPECT_EQ(input.next(), "alone");
  send(user_, "\x04");
  EXPECT_EQ(input.next(), std::nullopt);
}

TEST_F(OnTerminal, ACutLineIsNotSentAsIfItWereWhole) {
  ChatInput input(program_);
  send(user_, std::string(4000, 'a'));
  send(user_, std::string(1000, 'b') + "\n");
  testing::internal::CaptureStderr();
  // Not together with the first one.
  std::thread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    send(user_, "short\n");
  });
  const std::optional<std::string> got = input.next();
  later.join();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("4095 bytes"), std::string::npos);
  EXPECT_EQ(got, "short");
}

}  // namespace
}  // namespace camshaft::cli
