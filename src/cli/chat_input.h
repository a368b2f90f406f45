// What the user of a chat says: a line is a message. On a terminal, lines that arrive together are one message: they were pasted.
#pragma once

#include <optional>
#include <string>

namespace camshaft::cli {

class ChatInput {
 public:
  explicit ChatInput(int descriptor);
  bool terminal() const { return terminal_; }
  // Nothing at the end of the input. A line that the terminal has cut is reported on standard error and not given.
  std::optional<std::string> next();

 private:
  std::optional<std::string> line();
  bool more_waits() const;

  int descriptor_;
  bool terminal_;
  std::string read_;  // and not yet given
};

}  // namespace camshaft::cli
