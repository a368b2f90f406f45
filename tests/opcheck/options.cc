// Command line: a mode, flags, and case files; without files those of tests/opcheck (cases/, or perf/ for the mode perf).
#include "options.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"

namespace camshaft::opcheck {
namespace {

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status append(Result<std::vector<Case>> cases, CheckOptions& out) {
  CS_RETURN_IF_ERROR(cases.status());
  out.cases.insert(out.cases.end(), cases->begin(), cases->end());
  return {};
}

Status set_flag(const std::string& flag, const std::string& value, CheckOptions& out) {
  out.every_case = out.every_case && flag == "--isa";
  if (flag == "--isa") {
    CS_ASSIGN_OR_RETURN(out.isa, kernels::parse_isa(value));
  } else if (flag == "--kernel") {
    out.kernel = value;
  } else if (flag == "--op") {
    out.op = value;
  } else if (flag == "--case") {
    return append(parse_cases(value), out);
  } else if (flag == "--seconds") {
    out.seconds = std::strtod(value.c_str(), nullptr);
  } else if (flag == "--threads") {
    std::from_chars(value.data(), value.data() + value.size(), out.threads);
    if (out.threads < 1 || out.threads > 4) return base::invalid_argument("--threads takes 1 to 4");
  } else {
    return base::invalid_argument(format("unknown flag {}\n{}", flag, usage()));
  }
  return {};
}

}  // namespace

const char* usage() {
  return "opcheck list|correct|repeat|rows|perf|all [--isa CAP] [--new] [--op OP] [--kernel NAME] [--case LINE] [--threads N] "
         "[--seconds S] [--ref] [FILE...]";
}

Result<CheckOptions> parse_options(const std::vector<std::string>& arguments) {
  static constexpr std::string_view kModes[] = {"list", "correct", "repeat", "rows", "perf", "all"};
  CheckOptions out;
  out.isa = kernels::detect_isa();
  if (arguments.empty() || std::find(std::begin(kModes), std::end(kModes), arguments[0]) == std::end(kModes)) {
    return base::invalid_argument(usage());
  }
  out.mode = arguments[0];
  std::vector<std::string> files;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == "--ref") {
      out.with_ref = true;
    } else if (arguments[i] == "--new") {
      out.only_new = true;
    } else if (!arguments[i].starts_with("--")) {
      files.push_back(arguments[i]);
    } else if (i + 1 == arguments.size()) {
      return base::invalid_argument(format("{} needs a value", arguments[i]));
    } else {
      CS_RETURN_IF_ERROR(set_flag(arguments[i], arguments[i + 1], out));
      ++i;
    }
  }
  out.every_case = out.every_case && files.empty();
  if (files.empty() && out.cases.empty()) {
    files = files_in(std::string(CAMSHAFT_SOURCE_DIR "/tests/opcheck/") + (out.mode == "perf" ? "perf" : "cases"));
  }
  for (const std::string& file : files) CS_RETURN_IF_ERROR(append(read_cases(file), out));
  return out;
}

}  // namespace camshaft::opcheck
