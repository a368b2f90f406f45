// What an engine is bound to, and the refusal where it does not fit.
#include <algorithm>

#include "base/format.h"
#include "engine/engine.h"

namespace camshaft::engine {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

Status check_target(const Fingerprint& fingerprint, const Target& machine) {
  if (fingerprint.target != machine.target) {
    return base::failed_precondition(
        format("the engine is built for target '{}', this is '{}'; build it for this machine with 'camshaft build'",
               fingerprint.target, machine.target));
  }
  std::vector<std::string> missing;
  for (const std::string& feature : fingerprint.features) {
    if (std::ranges::find(machine.features, feature) == machine.features.end()) missing.push_back(feature);
  }
  if (missing.empty()) return base::ok_status();
  return base::failed_precondition(
      format("the engine is built for ISA class '{}' and needs the CPU feature {}; this machine has {}; "
             "build it here, or for a lower class with 'camshaft build --isa'",
             fingerprint.isa, joined(missing), joined(machine.features)));
}

}  // namespace camshaft::engine
