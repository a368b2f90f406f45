// Values as JSON text, as Python's json.dumps writes it.
#include <algorithm>
#include <cmath>

#include "text/jinja/failure.h"
#include "text/jinja/operators.h"
#include "text/jinja/repr.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Heap& heap, const JsonStyle& style) : heap_(heap), style_(style) {}

  void value(Value value, uint32_t depth);
  std::string take() { return std::move(out_); }

 private:
  void add(std::string_view text) {
    heap_.scan(text.size());
    heap_.require(out_.size() + text.size(), 1);
    out_ += text;
  }
  void string(std::string_view text);
  void list(const List& list, uint32_t depth);
  void dict(const Dict& dict, uint32_t depth);
  void new_line(uint32_t depth) {
    if (!style_.indent) return;
    add("\n");
    for (uint32_t i = 0; i < depth; ++i) add(*style_.indent);
  }
  std::string number(Value value) const;
  std::string key_text(Value key);
  void escape(char32_t code, std::string_view raw);

  Heap& heap_;
  const JsonStyle& style_;
  std::string out_;
};

void JsonWriter::escape(char32_t code, std::string_view raw) {
  switch (code) {
    case '"': out_ += "\\\""; return;
    case '\\': out_ += "\\\\"; return;
    case '\n': out_ += "\\n"; return;
    case '\r': out_ += "\\r"; return;
    case '\t': out_ += "\\t"; return;
    case '\f': out_ += "\\f"; return;
    case '\b': out_ += "\\b"; return;
    default: break;
  }
  if (code >= 0x20 && (code < 0x7F || !style_.ascii || code == 0x7F)) {
    out_ += raw;
  } else if (code < 0x10000) {
    out_ += format("\\u{:04x}", static_cast<uint32_t>(code));
  } else {
    const uint32_t rest = static_cast<uint32_t>(code) - 0x10000;
    out_ += format("\\u{:04x}\\u{:04x}", 0xD800 + (rest >> 10), 0xDC00 + (rest & 0x3FF));
  }
}

void JsonWriter::string(std::string_view text) {
  heap_.scan(text.size() * 4);
  heap_.require(out_.size() + text.size() * 6 + 2, 1);
  out_ += '"';
  for (uint64_t at = 0; at < text.size();) {
    uint32_t size = 0;
    const char32_t code = decode(text, at, &size);
    escape(code, text.substr(at, size));
    at += size;
  }
  out_ += '"';
}

std::string JsonWriter::number(Value value) const {
  if (value.is(Kind::kInt)) return std::to_string(value.integer);
  if (value.is(Kind::kBigInt)) return std::to_string(value.big);
  if (std::isnan(value.real)) return "NaN";
  if (std::isinf(value.real)) return value.real < 0 ? "-Infinity" : "Infinity";
  return float_repr(value.real);
}

std::string JsonWriter::key_text(Value key) {
  switch (key.kind) {
    case Kind::kString: return std::string(bytes(heap_, key.str));
    case Kind::kNone: return "null";
    case Kind::kBool: return key.boolean ? "true" : "false";
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat: return number(key);
    default: fail(format("a '{}' cannot be a key in JSON", type_name(key)));
  }
}

void JsonWriter::list(const List& list, uint32_t depth) {
  if (list.size == 0) return add("[]");
  add("[");
  for (uint64_t i = 0; i < list.size; ++i) {
    if (i) add(style_.item_separator);
    new_line(depth + 1);
    value(list.items[i], depth + 1);
  }
  new_line(depth);
  add("]");
}

void JsonWriter::dict(const Dict& dict, uint32_t depth) {
  if (dict.size == 0) return add("{}");
  std::vector<Entry> entries(dict.begin(), dict.end());
  if (style_.sort_keys)
    std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) { return less(heap_, a.key, b.key); });
  add("{");
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i) add(style_.item_separator);
    new_line(depth + 1);
    string(key_text(entries[i].key));
    add(style_.key_separator);
    value(entries[i].value, depth + 1);
  }
  new_line(depth);
  add("}");
}

void JsonWriter::value(Value value, uint32_t depth) {
  heap_.node();
  switch (value.kind) {
    case Kind::kNone: return add("null");
    case Kind::kBool: return add(value.boolean ? "true" : "false");
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat: return add(number(value));
    case Kind::kString: return string(bytes(heap_, value.str));
    case Kind::kList:
    case Kind::kTuple: return list(*value.list, depth);
    case Kind::kDict: return dict(*value.dict, depth);
    case Kind::kUndefined: fail(format("tojson: {}", missing_message(heap_, value)));
    default: fail(format("object of type '{}' cannot be written as JSON", type_name(value)));
  }
}

}  // namespace

std::string to_json(Heap& heap, Value value, const JsonStyle& style) {
  JsonWriter writer(heap, style);
  writer.value(value, 0);
  return writer.take();
}

}  // namespace camshaft::text::jinja
