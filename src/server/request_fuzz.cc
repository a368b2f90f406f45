// Any bytes as the body of a generating request. The first byte chooses the route, the rest is the JSON text. Either a request
// whose values are in range comes out, or an error that names a field of the table.
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/utf8.h"
#include "executor/executor.h"
#include "server/errors.h"
#include "server/openai/params.h"

namespace {

using namespace camshaft;  // NOLINT: one small file

class NoExecutor final : public executor::Executor {
 public:
  NoExecutor() {
    limits_.max_seq_len = limits_.max_prompt_tokens = 2048;
    limits_.vocab = 1000;
  }
  const executor::ExecutorLimits& limits() const override { return limits_; }
  Status submit(api::Request, executor::EventQueue&) override { return base::ok_status(); }
  void cancel(api::RequestId, api::FinishReason) override {}
  void drain(base::SteadyTime) override {}
  executor::ExecutorStats stats() const override { return {}; }

 private:
  executor::ExecutorLimits limits_;
};

const generation::ModelEntry& entry() {
  static const generation::ModelEntry* made = [] {
    auto* model = new generation::ModelEntry;
    model->name = "m";
    model->executor = std::make_unique<NoExecutor>();
    return model;
  }();
  return *made;
}

void check_request(const server::Call& call) {
  const generation::GenerationRequest& request = call.request;
  const api::SamplingParams& sampling = request.sampling;
  CS_CHECK(sampling.temperature >= 0 && sampling.temperature <= 2, "temperature");
  CS_CHECK(sampling.top_p >= 0 && sampling.top_p <= 1, "top_p");
  CS_CHECK(sampling.top_k >= 0 && sampling.logprobs >= -1 && sampling.logprobs <= 20, "top_k, logprobs");
  CS_CHECK(std::isfinite(sampling.repetition_penalty), "repetition_penalty");
  CS_CHECK(!request.max_tokens || *request.max_tokens >= 1, "max_tokens");
  CS_CHECK(request.stop.size() <= 16, "stop");
  for (const int32_t id : request.stop_token_ids) CS_CHECK(id >= 0 && id < 1000, "stop_token_ids");
  for (const auto& [id, bias] : sampling.logit_bias) CS_CHECK(id >= 0 && id < 1000 && std::abs(bias) <= 100, "logit_bias");
}

void check_error(const Status& status) {
  const int code = server::error_response(status).status;
  CS_CHECK(code == 400 || code == 404, status.to_string());
  CS_CHECK(base::parse_json(server::error_body(status)).ok(), status.to_string());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  constexpr server::ApiRoute kRoutes[] = {server::kChat, server::kCompletions, server::kGenerate};
  const auto body = base::parse_json({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (!body.ok()) return 0;
  const generation::ModelEntry* models[] = {&entry()};
  const auto call = server::decode_call(kRoutes[data[0] % 3], *body, {models, data[0] >= 128, 1, {}});
  if (call.ok()) {
    check_request(*call);
  } else {
    check_error(call.status());
  }
  return 0;
}
