// A pseudo terminal for tests; where the system has none (a bare root without /dev/pts) they skip.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace camshaft::cli {

class TestTerminal {
 public:
  TestTerminal() : user_(posix_openpt(O_RDWR | O_NOCTTY)) {
    if (user_ >= 0 && grantpt(user_) == 0 && unlockpt(user_) == 0) name_ = ptsname(user_);
  }
  ~TestTerminal() {
    if (user_ >= 0) close(user_);
  }
  TestTerminal(const TestTerminal&) = delete;
  TestTerminal& operator=(const TestTerminal&) = delete;

  bool exists() const { return !name_.empty(); }
  int user() const { return user_; }                 // the keyboard's and screen's end
  const std::string& name() const { return name_; }  // the program's end

 private:
  int user_;
  std::string name_;
};

}  // namespace camshaft::cli
