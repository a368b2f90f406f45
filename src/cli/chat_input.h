// What the user of a chat says: a line is a message. On a terminal, lines that arrive together are one message: they were pasted.
#pragma once

#include <optional>
#include <string>

#include "base/status.h"

namespace camshaft::cli {

class ChatInput {
 public:
  explicit ChatInput(int descriptor);
  bool terminal() const { return terminal_; }
  // Nothing at the end of the input, or where it cannot be read, which status() tells. A line that the terminal has cut is reported
  // on standard error and not given.
  std::optional<std::string> next();
  const Status& status() const { return status_; }

 private:
  std::optional<std::string> line();
  bool more_waits() const;

  int descriptor_;
  bool terminal_;
  std::string read_;  // and not yet given
  Status status_;
};

}  // namespace camshaft::cli
