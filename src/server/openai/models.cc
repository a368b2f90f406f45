// GET /v1/models and /v1/models/{id}.
#include "base/json.h"
#include "server/endpoints.h"
#include "server/errors.h"
#include "server/service.h"

namespace camshaft::server {
namespace {

Json describe(const generation::ModelEntry& model) {
  Json out(base::JsonObject{});
  out.set("id", model.name);
  out.set("object", "model");
  out.set("created", model.created_unix);
  out.set("owned_by", "camshaft");
  out.set("root", model.name);
  out.set("parent", nullptr);
  out.set("max_model_len", model.executor->limits().max_seq_len);
  return out;
}

http::Response json_response(const Json& body) { return {200, "application/json", body.dump(), {}}; }

}  // namespace

std::optional<http::Response> get_models(RouteCall& call) {
  base::JsonArray data;
  for (const generation::ModelEntry* model : call.service.shared().models) data.push_back(describe(*model));
  Json body(base::JsonObject{});
  body.set("object", "list");
  body.set("data", std::move(data));
  return json_response(body);
}

std::optional<http::Response> get_model(RouteCall& call) {
  const auto model = find_model(call.service.shared().models, call.suffix);
  if (!model.ok()) return error_response(model.status());
  return json_response(describe(**model));
}

}  // namespace camshaft::server
