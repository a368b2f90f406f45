// One log for the process, asynchronous, to stderr; the library behind it (spdlog) is seen only in log.cc.
// An error is logged once, at the top. Prompts, outputs and keys are never logged.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/format.h"

namespace camshaft::base {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

// Called once by cli before threads start.
void configure_log(LogLevel level, LogFormat format);
// Never waits: where the queue is full or nobody reads stderr, lines are lost and counted. Control characters are escaped; the
// message is cut at 2 KiB.
void log_message(LogLevel level, std::string_view message);
uint64_t log_lines_dropped();

template <typename... Args>
void log_info(std::string_view pattern, const Args&... args) {
  log_message(LogLevel::kInfo, format(pattern, args...));
}
template <typename... Args>
void log_warn(std::string_view pattern, const Args&... args) {
  log_message(LogLevel::kWarn, format(pattern, args...));
}
template <typename... Args>
void log_error(std::string_view pattern, const Args&... args) {
  log_message(LogLevel::kError, format(pattern, args...));
}

}  // namespace camshaft::base
