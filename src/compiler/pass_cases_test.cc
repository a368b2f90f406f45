// Every pass over its cases in tests/passes/PASS.txt: IR text in, IR text out. A failure prints the text that came out.
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>

#include "compiler/compiler.h"
#include "compiler/test_graphs.h"

namespace camshaft::compiler {

// For messages of failing tests.
void PrintTo(const Pass& pass, std::ostream* out) { *out << pass.name; }

namespace {

struct PassCase {
  std::string name;
  Precision precision = Precision::kKeep;
  std::string before;
  int64_t changes = 0;
  std::string after;  // empty: as before
};

PassCase case_of(std::string name) {
  PassCase out;
  constexpr std::string_view kMark = " [precision=";
  const size_t mark = name.find(kMark);
  if (mark != std::string::npos) {
    const auto precision = parse_precision(name.substr(mark + kMark.size(), name.size() - mark - kMark.size() - 1));
    EXPECT_TRUE(precision.ok()) << precision.status().message();
    out.precision = precision.value();
  }
  out.name = std::move(name);
  return out;
}

std::vector<PassCase> read_cases(const std::string& pass) {
  std::ifstream file(std::string(CAMSHAFT_SOURCE_DIR "/tests/passes/") + pass + ".txt");
  std::vector<PassCase> cases;
  bool after = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("=== ")) {
      cases.push_back(case_of(line.substr(4)));
      after = false;
    } else if (line.starts_with("--- changes=")) {
      cases.back().changes = std::strtoll(line.c_str() + 12, nullptr, 10);
      after = true;
    } else {
      (after ? cases.back().after : cases.back().before) += line + "\n";
    }
  }
  return cases;
}

class PassCases : public testing::TestWithParam<Pass> {};

TEST_P(PassCases, TextInTextOut) {
  const std::vector<PassCase> cases = read_cases(std::string(GetParam().name));
  EXPECT_GE(cases.size(), 3u) << "tests/passes/" << GetParam().name << ".txt";
  for (const PassCase& each : cases) {
    SCOPED_TRACE(each.name);
    auto graph = parse_zeros(each.before);
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(graph::print(*graph), each.before);
    CompileOptions options;
    options.precision = each.precision;
    const auto changes = GetParam().run(*graph, options);
    ASSERT_TRUE(changes.ok()) << changes.status().message();
    EXPECT_EQ(graph::verify(*graph).message(), "");
    EXPECT_EQ(graph::print(*graph), each.after.empty() ? each.before : each.after);
    EXPECT_EQ(*changes, each.changes);
  }
}

INSTANTIATE_TEST_SUITE_P(Compiler, PassCases, testing::ValuesIn(passes()),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace camshaft::compiler
