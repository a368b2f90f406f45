// Text form of descriptions and of value types. Each description lists its fields once (fields()); writing and reading both walk
// that list. Numbers are the shortest text that reads back exactly.
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <system_error>

#include "base/format.h"
#include "ops/op_table.h"

namespace camshaft::ops {
namespace {

using Pairs = RopeParams::Pairs;
using Scaling = RopeParams::Scaling;
constexpr std::string_view kPairNames[] = {"interleaved", "halves"};
constexpr std::string_view kScalingNames[] = {"none", "linear", "llama3", "yarn", "dynamic"};

template <typename Number>
std::string number_text(Number value) {
  if constexpr (std::is_floating_point_v<Number>) {
    // 500000 reads better than 5e+05.
    const bool whole = std::abs(value) < 1e9 && value == std::trunc(value) && !(value == 0 && std::signbit(value));
    if (whole) return number_text(static_cast<int64_t>(value));
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return std::string(buffer, end);
}

template <typename Number>
bool read_number(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  if constexpr (std::is_floating_point_v<Number>) return std::isfinite(out);
  return true;
}

template <typename Enum, size_t N>
bool read_name(std::string_view text, const std::string_view (&names)[N], Enum& out) {
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == text) {
      out = static_cast<Enum>(i);
      return true;
    }
  }
  return false;
}

template <typename T>
bool take(Result<T> result, T& out) {
  if (result.ok()) out = *result;
  return result.ok();
}

// to_text and from_text for every type a field has.
std::string to_text(int64_t value) { return number_text(value); }
std::string to_text(float value) { return number_text(value); }
std::string to_text(double value) { return number_text(value); }
std::string to_text(bool value) { return value ? "true" : "false"; }
std::string to_text(tensor::Format value) { return std::string(tensor::format_info(value).name); }
std::string to_text(ActivationType value) { return std::string(activation_name(value)); }
std::string to_text(Pairs value) { return std::string(kPairNames[static_cast<size_t>(value)]); }
std::string to_text(Scaling value) { return std::string(kScalingNames[static_cast<size_t>(value)]); }
std::string to_text(const std::vector<float>& values) {
  std::string out;
  for (const float value : values) out += (out.empty() ? "" : ",") + number_text(value);
  return out;
}

bool from_text(std::string_view text, int64_t& out) { return read_number(text, out); }
bool from_text(std::string_view text, float& out) { return read_number(text, out); }
bool from_text(std::string_view text, double& out) { return read_number(text, out); }
bool from_text(std::string_view text, tensor::Format& out) { return take(tensor::parse_format(text), out); }
bool from_text(std::string_view text, ActivationType& out) { return take(parse_activation(text), out); }
bool from_text(std::string_view text, Pairs& out) { return read_name(text, kPairNames, out); }
bool from_text(std::string_view text, Scaling& out) { return read_name(text, kScalingNames, out); }
bool from_text(std::string_view text, bool& out) {
  out = text == "true";
  return out || text == "false";
}
bool from_text(std::string_view text, std::vector<float>& out) {
  out.clear();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    if (!read_number(text.substr(begin, comma - begin), out.emplace_back())) return false;
    begin = comma + 1;
  }
  return true;
}

// need(): always written, must be there. may(): written where it differs from the default.
template <typename F>
void fields(KvShape& kv, F& f) {
  f.need("layer", kv.layer);
  f.need("kv_heads", kv.kv_heads);
  f.need("head_dim", kv.head_dim);
}
template <typename F>
void rope_fields(RopeParams& rope, F& f) {
  f.need("rotary_dim", rope.rotary_dim);
  f.need("pairs", rope.pairs);
  f.need("theta", rope.theta);
  f.may("scaling", rope.scaling);
  f.may("factor", rope.factor);
  f.may("low_freq_factor", rope.low_freq_factor);
  f.may("high_freq_factor", rope.high_freq_factor);
  f.may("original_context", rope.original_context);
  f.may("beta_fast", rope.beta_fast);
  f.may("beta_slow", rope.beta_slow);
  f.may("attention_factor", rope.attention_factor);
  f.may("freq_factors", rope.freq_factors);
}
template <typename F>
void fields(EmbeddingDesc& d, F& f) {
  f.need("vocab", d.vocab);
  f.need("hidden", d.hidden);
  f.need("weight", d.weight);
}
template <typename F>
void fields(RmsNormDesc& d, F& f) {
  f.need("hidden", d.hidden);
  f.need("eps", d.eps);
}
template <typename F>
void fields(AddRmsNormDesc& d, F& f) {
  f.need("hidden", d.hidden);
  f.need("eps", d.eps);
}
template <typename F>
void fields(GemmDesc& d, F& f) {
  f.need("n", d.n);
  f.need("k", d.k);
  f.need("weight", d.weight);
  f.need("activation", d.activation);
  f.may("bias", d.bias);
}
template <typename F>
void fields(AddDesc& d, F& f) {
  f.need("columns", d.columns);
}
template <typename F>
void fields(MulDesc& d, F& f) {
  f.need("columns", d.columns);
}
template <typename F>
void fields(SiluDesc& d, F& f) {
  f.need("columns", d.columns);
}
template <typename F>
void fields(SwigluDesc& d, F& f) {
  f.need("columns", d.columns);
  f.may("merged", d.merged);
}
template <typename F>
void fields(SliceDesc& d, F& f) {
  f.need("begin", d.begin);
  f.need("columns", d.columns);
}
template <typename F>
void fields(RopeDesc& d, F& f) {
  f.need("heads", d.heads);
  f.need("head_dim", d.rope.head_dim);
  rope_fields(d.rope, f);
}
template <typename F>
void fields(KvWriteDesc& d, F& f) {
  fields(d.kv, f);
}
template <typename F>
void fields(RopeKvWriteDesc& d, F& f) {
  f.need("heads", d.heads);
  fields(d.kv, f);
  rope_fields(d.rope, f);
}
template <typename F>
void fields(AttentionDesc& d, F& f) {
  f.need("heads", d.heads);
  fields(d.kv, f);
  f.need("scale", d.scale);
}
template <typename F>
void fields(GatherRowsDesc& d, F& f) {
  f.need("columns", d.columns);
}
template <typename F>
void fields(ConcatRowsDesc&, F&) {}

// Notes what each field holds by default, in the order of the list.
struct Defaults {
  std::vector<std::string> texts;
  template <typename T>
  void need(std::string_view, T& value) {
    texts.push_back(to_text(value));
  }
  template <typename T>
  void may(std::string_view name, T& value) {
    need(name, value);
  }
};

struct Writer {
  std::vector<std::string> defaults;
  std::string out;
  size_t field = 0;
  void put(std::string_view name, std::string_view text, bool always) {
    const bool same = text == defaults[field++];
    if (same && !always) return;
    out += format("{}{}={}", out.empty() ? "" : " ", name, text);
  }
  template <typename T>
  void need(std::string_view name, T& value) {
    put(name, to_text(value), true);
  }
  template <typename T>
  void may(std::string_view name, T& value) {
    put(name, to_text(value), false);
  }
};

struct Reader {
  std::string_view op;
  std::map<std::string, std::string, std::less<>> given;
  Status status;
  template <typename T>
  void need(std::string_view name, T& value) {
    if (!may(name, value) && status.ok()) status = base::invalid_argument(format("{}: '{}' is missing", op, name));
  }
  // Whether the field was there.
  template <typename T>
  bool may(std::string_view name, T& value) {
    const auto found = given.find(name);
    if (found == given.end()) return false;
    if (!from_text(found->second, value) && status.ok()) {
      status = base::invalid_argument(format("{}: '{}' cannot be read as a value of {}", op, found->second, name));
    }
    given.erase(found);
    return true;
  }
};

Status split_fields(std::string_view op, std::string_view text, std::map<std::string, std::string, std::less<>>& out) {
  for (size_t begin = text.find_first_not_of(' '); begin < text.size(); begin = text.find_first_not_of(' ', begin)) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return base::invalid_argument(format("{}: '{}' is not of the form name=value", op, item));
    const bool fresh = out.emplace(item.substr(0, equals), item.substr(equals + 1)).second;
    if (!fresh) return base::invalid_argument(format("{}: '{}' is given twice", op, item.substr(0, equals)));
    begin = end;
  }
  return base::ok_status();
}

template <typename Desc>
Result<OpDesc> parse_fields(Reader reader) {
  Desc desc;
  fields(desc, reader);
  CS_RETURN_IF_ERROR(reader.status);
  if (!reader.given.empty())
    return base::invalid_argument(format("{}: no field is named '{}'", reader.op, reader.given.begin()->first));
  // Written once, as the cache's.
  if constexpr (std::is_same_v<Desc, RopeKvWriteDesc>) desc.rope.head_dim = desc.kv.head_dim;
  return OpDesc(desc);
}

template <size_t... I>
Result<OpDesc> parse_kind(OpKind kind, Reader reader, std::index_sequence<I...>) {
  using Parse = Result<OpDesc> (*)(Reader);
  constexpr Parse kParsers[] = {&parse_fields<std::variant_alternative_t<I, OpDesc>>...};
  return kParsers[static_cast<size_t>(kind)](std::move(reader));
}

}  // namespace

std::string desc_text(const OpDesc& desc) {
  return std::visit(
      [](auto copy) {
        decltype(copy) fresh;
        Defaults defaults;
        fields(fresh, defaults);
        Writer writer{std::move(defaults.texts), {}};
        fields(copy, writer);
        return writer.out;
      },
      desc);
}

Result<OpDesc> parse_desc(OpKind kind, std::string_view text) {
  Reader reader{op_name(kind), {}, {}};
  CS_RETURN_IF_ERROR(split_fields(reader.op, text, reader.given));
  return parse_kind(kind, std::move(reader), std::make_index_sequence<std::variant_size_v<OpDesc>>());
}

}  // namespace camshaft::ops
