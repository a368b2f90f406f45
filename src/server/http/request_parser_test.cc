// Requests as bytes: what is accepted, what is refused with which status, limits and limit + 1, and that cutting the bytes anywhere
// changes nothing.
#include "server/http/request_parser.h"

#include <gtest/gtest.h>

#include <string>

namespace camshaft::server::http {
namespace {

using State = RequestParser::State;

std::string repeated(std::string_view text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out.append(text);
  return out;
}

// The status of the refusal, or 200.
int status_of(std::string_view bytes, const ParserLimits& limits = {}) {
  RequestParser parser(limits);
  parser.append(bytes);
  const State state = parser.parse();
  EXPECT_NE(state, State::kNeedMore) << bytes.substr(0, 200);
  return state == State::kFailed ? parser.refusal().status : 200;
}

TEST(RequestParserTest, ReadsARequest) {
  RequestParser parser({});
  parser.append("\r\nPOST /v1/models/a%2Fb?x=1 HTTP/1.1\r\nHost: h\r\nX-Thing:  two words \r\nContent-Length: 3\r\n\r\nabcGET");
  ASSERT_EQ(parser.parse(), State::kDone);
  const Request request = parser.take();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.path, "/v1/models/a/b");
  EXPECT_EQ(request.query, "x=1");
  EXPECT_EQ(*request.header("x-thing"), "two words");
  EXPECT_EQ(request.header("absent"), nullptr);
  EXPECT_EQ(request.body, "abc");
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(parser.parse(), State::kNeedMore);  // the next one has begun
  EXPECT_FALSE(parser.idle());
}

TEST(RequestParserTest, Persistence) {
  const auto keeps = [](std::string_view bytes) {
    RequestParser parser({});
    parser.append(bytes);
    EXPECT_EQ(parser.parse(), State::kDone);
    return parser.take().keep_alive;
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(RequestParserTest, ChunksAndTrailers) {
  RequestParser parser({});
  parser.append(
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-Late: 1\r\n\r\n");
  ASSERT_EQ(parser.parse(), State::kDone);
  const Request request = parser.take();
  EXPECT_EQ(request.body, "hello world");
  EXPECT_EQ(request.header("x-late"), nullptr);  // a trailer changes nothing
  EXPECT_TRUE(parser.idle());
}

TEST(RequestParserTest, SplitAtEveryByte) {
  const std::string bytes =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n10;x=\"y\"\r\n0123456789abcdef\r\n0\r\nT: "
      "t\r\n\r\n"
      "PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nwxyz"
      "GET /c HTTP/1.1\r\nHost: h\r\n\r\n";
  for (size_t cut = 0; cut <= bytes.size() + 1; ++cut) {
    RequestParser parser({});
    std::string seen;
    const auto take_all = [&] {
      while (parser.parse() == State::kDone) {
        const Request request = parser.take();
        seen += request.path + "=" + request.body + ";";
      }
      ASSERT_EQ(parser.parse(), State::kNeedMore) << parser.refusal().message;
    };
    if (cut <= bytes.size()) {
      parser.append(bytes.substr(0, cut));
      take_all();
      parser.append(bytes.substr(cut));
      take_all();
    } else {
      for (const char c : bytes) {
        parser.append({&c, 1});
        take_all();
      }
    }
    EXPECT_EQ(seen, "/a=abc0123456789abcdef;/b=wxyz;/c=;") << "cut at " << cut;
  }
}

TEST(RequestParserTest, AsksForTheBody) {
  RequestParser parser({});
  parser.append("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(parser.parse(), State::kNeedMore);
  EXPECT_TRUE(parser.take_continue());
  EXPECT_FALSE(parser.take_continue());
  parser.append("x");
  EXPECT_EQ(parser.parse(), State::kDone);
}

struct Malformed {
  const char* name;
  std::string bytes;
  int status;
};

std::vector<Malformed> malformed() {
  const std::string get = "GET / HTTP/1.1\r\nHost: h\r\n";
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  return {
      {"length and encoding", post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"encoding and length", post + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
      {"two lengths, equal", post + "Content-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400},
      {"two lengths in one", post + "Content-Length: 1, 1\r\n\r\nx", 400},
      {"signed length", post + "Content-Length: +1\r\n\r\nx", 400},
      {"negative length", post + "Content-Length: -1\r\n\r\nx", 400},
      {"hexadecimal length", post + "Content-Length: 0x1\r\n\r\nx", 400},
      {"empty length", post + "Content-Length:\r\n\r\n", 400},
      {"huge length", post + "Content-Length: 99999999999999999999\r\n\r\n", 400},
      {"two encodings", post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"unknown encoding", post + "Transfer-Encoding: gzip\r\n\r\n", 400},
      {"encoding list", post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 400},
      {"encoding with a tab inside", post + "Transfer-Encoding: chun\tked\r\n\r\n", 400},
      {"encoding on 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"bare line feed", "GET / HTTP/1.1\nHost: h\n\n", 400},
      {"bare line feed in headers", get + "A: b\nC: d\r\n\r\n", 400},
      {"bare carriage return", get + "A: b\rC: d\r\n\r\n", 400},
      {"folded line", get + "A: b\r\n c\r\n\r\n", 400},
      {"folded first line", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", 400},
      {"space before the colon", get + "A : b\r\n\r\n", 400},
      {"no colon", get + "abc\r\n\r\n", 400},
      {"empty name", get + ": b\r\n\r\n", 400},
      {"NUL in a value", get + std::string("A: \0b\r\n\r\n", 9), 400},
      {"NUL in the target", std::string("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 29), 400},
      {"control in a value", get + "A: \x01\r\n\r\n", 400},
      {"delete in a value", get + "A: \x7f\r\n\r\n", 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", 400},
      {"two hosts", get + "Host: h\r\n\r\n", 400},
      {"host with blanks", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
      {"no version", "GET /\r\n\r\n", 400},
      {"old version", "GET / HTTP/0.9\r\n\r\n", 505},
      {"new version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
      {"http/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
      {"version in lower case", "GET / http/1.1\r\nHost: h\r\n\r\n", 400},
      {"two blanks", "GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"blank at the end", "GET / HTTP/1.1 \r\nHost: h\r\n\r\n", 400},
      {"bad method", "G(T / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"relative target", "GET abc HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"broken escape", "GET /%2 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"wrong escape", "GET /%zz HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"escaped NUL", "GET /%00 HTTP/1.1\r\nHost: h\r\n\r\n", 400},
      {"expectation", get + "Expect: coffee\r\n\r\n", 417},
      {"chunk size missing", chunked + "\r\n", 400},
      {"chunk size not hexadecimal", chunked + "zz\r\n", 400},
      {"signed chunk size", chunked + "+5\r\nhello\r\n0\r\n\r\n", 400},
      {"chunk size of 17 digits", chunked + "00000000000000005\r\nhello\r\n0\r\n\r\n", 400},
      {"chunk size over 64 bits", chunked + "fffffffffffffffff\r\n", 400},
      {"chunk too large", chunked + "ffffffff\r\n", 413},
      {"chunk without its end", chunked + "5\r\nhelloXX0\r\n\r\n", 400},
      {"chunk line with bare line feed", chunked + "5\nhello\r\n0\r\n\r\n", 400},
      {"chunk extension with line feed", chunked + "5;a=\"\n\"\r\nhello\r\n0\r\n\r\n", 400},
      {"long chunk extension", chunked + "5;a=" + repeated("b", 300) + "\r\nhello\r\n0\r\n\r\n", 400},
      {"endless chunk line", chunked + repeated("0", 10) + ";" + repeated("a", 9000), 400},
      {"all lines with bare line feed", chunked + "5\nhello\n0\n\n", 400},
      {"chunk end with bare line feed", chunked + "5\r\nhello\n0\r\n\r\n", 400},
      {"last chunk with bare line feed", chunked + "5\r\nhello\r\n0\n\n", 400},
      {"trailer with bare line feed", chunked + "0\r\nA: b\n\n", 400},
      {"empty trailer with bare line feed", chunked + "0\r\n\n", 400},
      {"chunk line with bare carriage return", chunked + "5\rhello", 400},
      {"trailer with bare carriage return", chunked + "0\r\nA: b\rC: d\r\n\r\n", 400},
      {"length in a trailer", chunked + "0\r\nContent-Length: 5\r\n\r\n", 400},
      {"tls", std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11), 400},
  };
}

TEST(RequestParserTest, RefusesMalformedRequests) {
  for (const Malformed& one : malformed()) EXPECT_EQ(status_of(one.bytes), one.status) << one.name;
}

// The same refusal however the bytes arrive.
TEST(RequestParserTest, RefusesMalformedRequestsByteByByte) {
  for (const Malformed& one : malformed()) {
    RequestParser parser({});
    State state = State::kNeedMore;
    for (size_t i = 0; i < one.bytes.size() && state == State::kNeedMore; ++i) {
      parser.append(std::string_view(one.bytes).substr(i, 1));
      state = parser.parse();
    }
    ASSERT_EQ(state, State::kFailed) << one.name;
    EXPECT_EQ(parser.refusal().status, one.status) << one.name;
  }
}

TEST(RequestParserTest, LimitsOfTheHead) {
  const auto with_line = [](size_t bytes) { return "GET /" + std::string(bytes - 14, 'a') + " HTTP/1.1\r\nHost: h\r\n\r\n"; };
  EXPECT_EQ(status_of(with_line(8192)), 200);
  EXPECT_EQ(status_of(with_line(8193)), 414);
  const auto with_lines = [](size_t count) { return "GET / HTTP/1.1\r\nHost: h\r\n" + repeated("A: b\r\n", count - 1) + "\r\n"; };
  EXPECT_EQ(status_of(with_lines(100)), 200);
  EXPECT_EQ(status_of(with_lines(101)), 431);
  const auto with_bytes = [](size_t bytes) {
    return "GET / HTTP/1.1\r\nHost: h\r\nA: " + std::string(bytes - 14, 'b') + "\r\n\r\n";
  };
  EXPECT_EQ(status_of(with_bytes(65536)), 200);
  EXPECT_EQ(status_of(with_bytes(65537)), 431);
}

std::string refusal_text(std::string_view bytes, const ParserLimits& limits = {}) {
  RequestParser parser(limits);
  parser.append(bytes);
  EXPECT_EQ(parser.parse(), State::kFailed);
  return std::string(parser.refusal().message);
}

TEST(RequestParserTest, RefusalsNameTheLimitAndWhatCame) {
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(refusal_text(post + "Content-Length: 8388609\r\n\r\n"), "the body has 8388609 bytes, at most 8388608 are accepted");
  ParserLimits limits;
  limits.body_bytes = 10;
  limits.chunks = 3;
  limits.head = {20, 30, 2};
  const std::string chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  limits.head.header_bytes = 64;
  EXPECT_EQ(refusal_text(chunked + "5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n", limits),
            "the body has 5 bytes and a chunk of 6 more, at most 10 are accepted");
  EXPECT_EQ(refusal_text(chunked + "ffffffffffffffff\r\n", limits),
            "the body has 0 bytes and a chunk of 18446744073709551615 more, at most 10 are accepted");
  EXPECT_EQ(refusal_text(chunked + repeated("1\r\nx\r\n", 4), limits), "the body has 4 chunks or more, at most 3 are accepted");
  EXPECT_EQ(refusal_text("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaa", limits), "the request line is longer than 20 bytes");
  EXPECT_EQ(refusal_text("GET / HTTP/1.1\r\nA: b\r\nA: b\r\nA: b\r\n", limits), "there are more than 2 header lines");
  limits.head.header_bytes = 30;
  EXPECT_EQ(refusal_text(chunked, limits), "the header lines are larger than 30 bytes");
}

// RFC 9112, section 2.2: an empty line in front of the request line is passed over, however it arrives.
TEST(RequestParserTest, PassesOverOneEmptyLineInFront) {
  for (const size_t cut : {1, 2, 3}) {
    const std::string bytes = "\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n";
    RequestParser parser({});
    for (int i = 0; i < 2; ++i) {
      parser.append(bytes.substr(0, cut));
      EXPECT_EQ(parser.parse(), State::kNeedMore);
      parser.append(bytes.substr(cut));
      ASSERT_EQ(parser.parse(), State::kDone) << parser.refusal().message;
      EXPECT_EQ(parser.take().path, "/a");
    }
  }
}

TEST(RequestParserTest, LimitsOfTheBody) {
  ParserLimits limits;
  limits.body_bytes = 10;
  limits.chunks = 3;
  const std::string post = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(status_of(post + "Content-Length: 10\r\n\r\n0123456789", limits), 200);
  EXPECT_EQ(status_of(post + "Content-Length: 11\r\n\r\n", limits), 413);
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(chunked + "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", limits), 200);
  EXPECT_EQ(status_of(chunked + "5\r\n01234\r\n6\r\n56789a\r\n0\r\n\r\n", limits), 413);
  EXPECT_EQ(status_of(chunked + repeated("1\r\nx\r\n", 3) + "0\r\n\r\n", limits), 200);
  EXPECT_EQ(status_of(chunked + repeated("1\r\nx\r\n", 4) + "0\r\n\r\n", limits), 413);
}

}  // namespace
}  // namespace camshaft::server::http
