// Request, Response and Refusal: HTTP as plain values. What stands between the wire and the routes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace camshaft::server::http {

struct Header {
  std::string name;
  std::string value;
};

bool equal_ignoring_case(std::string_view a, std::string_view b);

struct Request {
  std::string method;
  std::string path;   // without query, percent-decoded once: the one path that routing and authorisation see
  std::string query;  // as sent
  std::vector<Header> headers;
  std::string body;
  std::string id;  // X-Request-Id: the client's where it is well-formed, else made
  bool http11 = true;
  bool keep_alive = true;
  base::SteadyTime arrival;

  // The first field of that name, or nullptr.
  const std::string* header(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type;  // empty: no body
  std::string body;
  std::vector<Header> headers;
};

// Why bytes were not accepted as a request. The connection closes after the answer.
struct Refusal {
  int status = 400;
  std::string_view code;  // of the error body; empty: none
  std::string message;    // a fixed sentence with its numbers
};

std::string_view status_text(int status);

}  // namespace camshaft::server::http
