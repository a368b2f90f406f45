// Owner of spdlog (header only, with the system's fmt): its bounded queue and thread, behind our own sink and line formats.
#include "base/log.h"

#define SPDLOG_HEADER_ONLY
#define SPDLOG_FMT_EXTERNAL 1
#define FMT_HEADER_ONLY
#include <poll.h>
#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/utf8.h"

namespace camshaft::base {
namespace {

constexpr size_t kQueuedMessages = 8192;
// A pipe that polls writable takes PIPE_BUF (4096) bytes without blocking; what would be a longer line is cut.
constexpr size_t kMaxLineBytes = 4096;
constexpr size_t kMaxMessageBytes = 2048;
constexpr int kSinkPatienceMs = 100;

constexpr spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::off;
}

std::string_view level_name(spdlog::level::level_enum level) {
  switch (level) {
    case spdlog::level::debug: return "debug";
    case spdlog::level::info: return "info";
    case spdlog::level::warn: return "warn";
    default: return "error";
  }
}

// RFC 3339, UTC, milliseconds.
std::string timestamp(spdlog::log_clock::time_point time) {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const auto seconds = static_cast<time_t>(since_epoch / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour,
                parts.tm_min, parts.tm_sec, since_epoch % 1000);
}

// Control characters are escaped: no message can forge a second line or move the terminal's cursor.
void append_printable(std::string& out, std::string_view text) {
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += byte == '\n' ? std::string("\\n") : format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
}

std::string text_line(const spdlog::details::log_msg& message, std::string_view text) {
  std::string line = format("{} {:<5} ", timestamp(message.time), level_name(message.level));
  append_printable(line, text);
  return line += '\n';
}

std::string json_line(const spdlog::details::log_msg& message, std::string_view text) {
  std::string line = format(R"({{"ts":"{}","level":"{}","msg":)", timestamp(message.time), level_name(message.level));
  append_json_string(line, text);
  return line += "}\n";
}

// Escapes can make a line six times as long as its message: then the message is cut further.
std::string make_line(LogFormat line_format, const spdlog::details::log_msg& message) {
  const std::string text = replace_invalid_utf8({message.payload.data(), message.payload.size()});
  for (size_t limit = kMaxMessageBytes;; limit /= 2) {
    const std::string_view cut = std::string_view(text).substr(0, limit);
    const std::string_view whole = cut.substr(0, utf8_valid_prefix(cut));
    std::string line = line_format == LogFormat::kJson ? json_line(message, whole) : text_line(message, whole);
    if (line.size() <= kMaxLineBytes) return line;
  }
}

// Writes whole lines to stderr. Where nobody reads the other end, lines are dropped and counted; nothing waits for long.
class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit StderrSink(LogFormat format) : format_(format) {}
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const std::string line = make_line(format_, message);
    pollfd target{STDERR_FILENO, POLLOUT, 0};
    // Once nobody has read for the whole patience, later lines do not wait again.
    const bool writable = poll(&target, 1, stuck_ ? 0 : kSinkPatienceMs) == 1 && (target.revents & POLLOUT) != 0;
    stuck_ = !writable;
    if (!writable || ::write(STDERR_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void flush_() override {}

  LogFormat format_;
  bool stuck_ = false;
  std::atomic<uint64_t> dropped_{0};
};

// The one log of the process. Members are destroyed in reverse: the queue's thread first, after it has written what is queued.
class ProcessLog {
 public:
  void configure(LogLevel level, LogFormat line_format) {
    sink_ = std::make_shared<StderrSink>(line_format);
    pool_ = std::make_shared<spdlog::details::thread_pool>(kQueuedMessages, 1);
    logger_ = std::make_shared<spdlog::async_logger>("camshaft", sink_, pool_, spdlog::async_overflow_policy::overrun_oldest);
    logger_->set_level(to_spdlog(level));
  }

  void write(LogLevel level, std::string_view message) {
    logger_->log(to_spdlog(level), spdlog::string_view_t(message.data(), message.size()));
  }
  uint64_t dropped() const { return sink_->dropped() + (pool_ ? pool_->overrun_counter() : 0); }

 private:
  std::shared_ptr<StderrSink> sink_ = std::make_shared<StderrSink>(LogFormat::kText);
  // Until configured: warnings and errors, written at once by the caller.
  std::shared_ptr<spdlog::logger> logger_ = [this] {
    auto logger = std::make_shared<spdlog::logger>("camshaft", sink_);
    logger->set_level(spdlog::level::warn);
    return logger;
  }();
  std::shared_ptr<spdlog::details::thread_pool> pool_;
};

ProcessLog& process_log() {
  static ProcessLog log;
  return log;
}

}  // namespace

void configure_log(LogLevel level, LogFormat line_format) { process_log().configure(level, line_format); }
void log_message(LogLevel level, std::string_view message) { process_log().write(level, message); }
uint64_t log_lines_dropped() { return process_log().dropped(); }

}  // namespace camshaft::base
