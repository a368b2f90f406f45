// Any bytes: the reader answers or refuses; what it read must survive writing and reading again, compact and pretty.
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/utf8.h"

using camshaft::base::is_utf8;
using camshaft::base::Json;
using camshaft::base::parse_json;

namespace {

void check_reads_back(const Json& value, std::string_view text) {
  const camshaft::Result<Json> again = parse_json(text);
  CS_CHECK(again.ok(), again.status().to_string());
  CS_CHECK(*again == value, text);
  CS_CHECK(is_utf8(text), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const camshaft::Result<Json> value = parse_json({reinterpret_cast<const char*>(data), size});
  if (!value.ok()) {
    CS_CHECK(!value.status().message().empty() && value.status().code() != camshaft::Code::kInternal, value.status().to_string());
    return 0;
  }
  check_reads_back(*value, value->dump());
  check_reads_back(*value, value->dump_pretty(2));
  return 0;
}
