// camshaft serve ENGINE
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <semaphore>

#include "base/format.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/model_id.h"
#include "cli/open_model.h"
#include "cli/version.h"
#include "server/server.h"

namespace camshaft::cli {
namespace {

struct State {
  std::string model;
  std::string name;
  std::string log_format;
  int64_t port = 0;
  int64_t io_threads = 0;
  server::ServerOptions server;
  ModelOptions model_options;
};

CommandSpec spec(State& s) {
  CommandSpec out{"serve", "Serves an engine over HTTP.", {}, {}, &s.model_options.given};
  out.positionals.push_back({"ENGINE", "An engine file, or a checkpoint (built once into the cache).", true, &s.model});
  out.options = {
      {"host", base::Text{"ADDRESS"}, "127.0.0.1", "Address to listen on.", &s.server.host},
      {"port", base::IntRange{0, 65535}, "8000", "Port to listen on; 0 takes any free one.", &s.port},
      {"name", base::Text{"ID"}, "",
       "Model id that clients use, of letters, digits, '.', '-' and '_'; default the checkpoint's name, '-' for what else is in "
       "it.",
       &s.name},
      {"io-threads", base::IntRange{1, 64}, "1", "Threads for connections and text.", &s.io_threads},
      {"max-body", base::ByteRange{1024, uint64_t{1} << 30}, "8M", "Bytes of a request's body.", &s.server.max_body_bytes},
      {"request-timeout", base::DoubleRange{1, 86400}, "600", "Seconds a request may take.", &s.server.request_timeout_s},
      {"drain-timeout", base::DoubleRange{0, 86400}, "30", "Seconds that running requests get after SIGTERM.",
       &s.server.drain_timeout_s},
      {"keep-alive-comment", base::DoubleRange{0, 3600}, "15",
       "Seconds of silence before a comment is sent in a stream; 0 is never.", &s.server.keep_alive_comment_s},
      {"step-timeout", base::DoubleRange{0.1, 86400}, "30",
       "Seconds a step of the model may take; longer ones make /health fail and requests be refused.",
       &s.model_options.step_timeout_s},
      {"strict-requests", base::Flag{}, "", "Refuses unknown request fields instead of ignoring them.", &s.server.strict_requests},
      {"log-format", base::Choice{{"text", "json"}}, "text", "Form of log lines on stderr.", &s.log_format},
  };
  for (base::Option& option : model_option_table(s.model_options, "32")) out.options.push_back(std::move(option));
  return out;
}

enum class End : uint8_t { kSignal, kDeviceLost };

// A lost device serves nothing any more, and only a new process can have it back.
End wait_for_end(std::binary_semaphore& stop, const executor::Executor& executor) {
  constexpr std::chrono::milliseconds kLook(200);
  while (!stop.try_acquire_for(kLook)) {
    if (executor.stats().health.reason() == "device_lost") return End::kDeviceLost;
  }
  return End::kSignal;
}

// Until it serves a signal ends it at once; then the first one drains it.
int serve(const State& s) {
  std::binary_semaphore stop(0);
  Interrupts interrupts({SIGTERM, SIGINT});  // before the log, which has a thread
  base::configure_log(base::LogLevel::kInfo, s.log_format == "json" ? base::LogFormat::kJson : base::LogFormat::kText);
  base::MetricsRegistry metrics;
  metrics.gauge("build_info", "What is running.", {{"version", std::string(kVersion)}}).set(1);
  const auto model = open_model(s.model, s.model_options, s.name, metrics);
  if (!model.ok()) return report_failure("serve", model.status(), FailedThing::kEngine);
  auto server = server::Server::start(s.server, {&(*model)->entry}, metrics);
  if (!server.ok()) return report_failure("serve", server.status(), FailedThing::kUsage);
  interrupts.on_next([&stop] { stop.release(); });
  base::log_info("serving '{}' on http://{}:{}", (*model)->entry.name, s.server.host, (*server)->port());

  const End end = wait_for_end(stop, *(*model)->entry.executor);
  if (end == End::kSignal) {
    base::log_info("draining; a second signal ends at once");
  } else {
    base::log_error("the server ends: its model has stopped");
  }
  interrupts.on_next([] { _exit(0); });
  (*server)->drain();
  return end == End::kSignal ? 0 : kDeviceFault;
}

Status check_usage(const State& s) {
  if (s.server.host.empty()) return base::invalid_argument("--host is '', an address is expected, for instance 127.0.0.1");
  return s.model_options.given.contains("name") ? check_model_id(s.name) : base::ok_status();
}

int run(std::span<char* const> arguments) {
  State s;
  const auto parsed = parse_arguments(spec(s), arguments);
  if (!parsed.ok()) return report_failure("serve", parsed.status(), FailedThing::kUsage);
  if (*parsed == Parsed::kHelpShown) return 0;
  if (const Status usable = check_usage(s); !usable.ok()) return report_failure("serve", usable, FailedThing::kUsage);
  s.server.port = static_cast<int32_t>(s.port);
  s.server.version = kVersion;
  s.server.io_threads = static_cast<int32_t>(s.io_threads);
  return serve(s);
}

}  // namespace

const Command& serve_command() {
  static const Command command = {"serve", run, [] {
                                    State s;
                                    return spec(s);
                                  }};
  return command;
}

}  // namespace camshaft::cli
