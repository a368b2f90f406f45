#include "base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/format.h"

namespace camshaft::base {
namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

// The whole text as a number, or nothing.
template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

Status refuse(const Option& option, std::string_view text) {
  return invalid_argument(format("--{} is '{}', allowed is {}", option.name, text, allowed_text(option.kind)))
      .with_subject(option.name);
}

// The table's kind and target must belong together; that is the table writer's mistake alone.
template <typename T>
void store(const Option& option, T value) {
  T* const* target = std::get_if<T*>(&option.target);
  CS_CHECK(target != nullptr, option.name);
  **target = std::move(value);
}

Status set_flag(const Option& option, std::string_view text) {
  if (text != "true" && text != "false" && text != "1" && text != "0") return refuse(option, text);
  store(option, text == "true" || text == "1");
  return ok_status();
}

template <typename T, typename Range>
Status set_number(const Option& option, const Range& range, std::string_view text) {
  const std::optional<T> value = parse_number<T>(text);
  // Written so that NaN is refused as well.
  if (!value || !(*value >= range.min && *value <= range.max)) return refuse(option, text);
  store(option, *value);
  return ok_status();
}

Status set_bytes(const Option& option, const ByteRange& range, std::string_view text) {
  const Result<uint64_t> value = parse_bytes(text);
  if (!value.ok() || *value < range.min || *value > range.max) return refuse(option, text);
  store(option, *value);
  return ok_status();
}

Status set_choice(const Option& option, const Choice& choice, std::string_view text) {
  if (std::find(choice.values.begin(), choice.values.end(), text) == choice.values.end()) return refuse(option, text);
  store(option, std::string(text));
  return ok_status();
}

Status set_text(const Option& option, std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return refuse(option, "text with a NUL byte");
  store(option, std::string(text));
  return ok_status();
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += separator;
    out += word;
  }
  return out;
}

struct ByteUnit {
  char letter;
  int shift;
};
constexpr ByteUnit kByteUnits[] = {{'G', 30}, {'M', 20}, {'K', 10}};

int shift_of(char letter) {
  for (const ByteUnit& unit : kByteUnits) {
    if (letter == unit.letter || letter == unit.letter + ('a' - 'A')) return unit.shift;
  }
  return 0;
}

}  // namespace

Status set_option(const Option& option, std::string_view text) {
  return std::visit(Overloaded{
                        [&](const Flag&) { return set_flag(option, text); },
                        [&](const IntRange& range) { return set_number<int64_t>(option, range, text); },
                        [&](const DoubleRange& range) { return set_number<double>(option, range, text); },
                        [&](const ByteRange& range) { return set_bytes(option, range, text); },
                        [&](const Choice& choice) { return set_choice(option, choice, text); },
                        [&](const Text&) { return set_text(option, text); },
                    },
                    option.kind);
}

Status set_defaults(std::span<const Option> options) {
  for (const Option& option : options) {
    if (option.default_text.empty()) continue;
    Status status = set_option(option, option.default_text);
    if (!status.ok()) return std::move(status).with_context("default value");
  }
  return ok_status();
}

std::string allowed_text(const OptionKind& kind) {
  return std::visit(Overloaded{
                        [](const Flag&) { return std::string("true|false"); },
                        [](const IntRange& range) { return format("{}..{}", range.min, range.max); },
                        [](const DoubleRange& range) { return format("{}..{}", range.min, range.max); },
                        [](const ByteRange& range) { return format("{}..{}", bytes_text(range.min), bytes_text(range.max)); },
                        [](const Choice& choice) { return join(choice.values, "|"); },
                        [](const Text& value) { return value.placeholder; },
                    },
                    kind);
}

Result<uint64_t> parse_bytes(std::string_view text) {
  const int shift = text.empty() ? 0 : shift_of(text.back());
  const std::optional<uint64_t> value = parse_number<uint64_t>(shift == 0 ? text : text.substr(0, text.size() - 1));
  if (!value) return invalid_argument(format("'{}' is no number of bytes; write 512, 64K, 8M or 2G", text));
  if (*value > (UINT64_MAX >> shift)) return invalid_argument(format("'{}' bytes do not fit 64 bits", text));
  return *value << shift;
}

std::string bytes_text(uint64_t bytes) {
  for (const ByteUnit& unit : kByteUnits) {
    const uint64_t size = uint64_t{1} << unit.shift;
    if (bytes != 0 && bytes % size == 0) return format("{}{}", bytes / size, unit.letter);
  }
  return format("{}", bytes);
}

}  // namespace camshaft::base
