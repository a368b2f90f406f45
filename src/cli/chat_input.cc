#include "cli/chat_input.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace camshaft::cli {
namespace {

constexpr size_t kTerminalLine = 4095;  // bytes of a line that Linux terminals keep; what is longer is dropped without a word
constexpr int kPasteGapMs = 20;

}  // namespace

ChatInput::ChatInput(int descriptor) : descriptor_(descriptor), terminal_(isatty(descriptor) != 0) {}

std::optional<std::string> ChatInput::line() {
  while (true) {
    if (const size_t end = read_.find('\n'); end != std::string::npos) {
      std::string out = read_.substr(0, end);
      read_.erase(0, end + 1);
      return out;
    }
    char buffer[8192];
    const ssize_t count = ::read(descriptor_, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) status_ = base::io_error("cannot read standard input", errno);
    if (count > 0) {
      read_.append(buffer, static_cast<size_t>(count));
    } else if (read_.empty()) {
      return std::nullopt;
    } else {
      return std::exchange(read_, {});
    }
  }
}

bool ChatInput::more_waits() const {
  if (!read_.empty()) return true;
  pollfd waiting{descriptor_, POLLIN, 0};
  return ::poll(&waiting, 1, kPasteGapMs) > 0;
}

std::optional<std::string> ChatInput::next() {
  std::optional<std::string> message = line();
  if (!terminal_ || !message) return message;
  bool cut = message->size() >= kTerminalLine;
  while (more_waits()) {
    const std::optional<std::string> more = line();
    if (!more) break;
    cut = cut || more->size() >= kTerminalLine;
    *message += "\n" + *more;
  }
  if (!cut) return message;
  std::fprintf(stderr, "a terminal passes on %zu bytes of a line and the rest is lost, so this is not sent; use -p or a pipe\n> ",
               kTerminalLine);
  return next();
}

}  // namespace camshaft::cli
