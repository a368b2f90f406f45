// Attributes, elements, slices.
#include "text/jinja/access.h"

#include <algorithm>
#include <charconv>

#include "text/jinja/failure.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

Value missing_value(Heap& heap, Missing::Reason reason, Value owner, const Str* name) {
  Value value;
  value.missing = heap.make<Missing>(reason, name, type_name(owner));
  return value;
}

Value bound_method(Heap& heap, Value self, const Str* name, MethodFunction method) {
  Value value = Value::of(Kind::kFunction);
  value.function = heap.make<Function>(bytes(heap, name), method, self);
  return value;
}

// An element beside a loop's current one.
Value neighbour(Heap& heap, const Loop& loop, bool exists, uint64_t index, std::string_view which) {
  if (exists && loop.items) return loop.items[index];
  return undefined_because(heap, format("there is no {} item", which));
}

Value number_value(uint64_t number) { return Value::int_of(static_cast<int64_t>(number)); }

bool loop_attribute(Heap& heap, const Loop& loop, std::string_view name, Value* value) {
  const uint64_t at = loop.index;
  if (name == "index") return *value = number_value(at + 1), true;
  if (name == "index0") return *value = number_value(at), true;
  if (name == "first") return *value = Value::boolean_of(at == 0), true;
  if (name == "last") return *value = Value::boolean_of(at + 1 == loop.count), true;
  if (name == "length") return *value = number_value(loop.count), true;
  if (name == "revindex") return *value = number_value(loop.count - at), true;
  if (name == "revindex0") return *value = number_value(loop.count - at - 1), true;
  if (name == "depth") return *value = number_value(loop.depth + 1), true;
  if (name == "depth0") return *value = number_value(loop.depth), true;
  if (name == "previtem") return *value = neighbour(heap, loop, at > 0, at - 1, "previous"), true;
  if (name == "nextitem") return *value = neighbour(heap, loop, at + 1 < loop.count, at + 1, "next"), true;
  return false;
}

// What Python's getattr() finds: data attributes and methods, not elements.
bool plain_attribute(Heap& heap, Value value, const Str* name, Value* found) {
  const std::string_view text = bytes(heap, name);
  if (const MethodFunction method = find_method(value.kind, text)) return *found = bound_method(heap, value, name, method), true;
  if (is_mutator(value.kind, text)) return *found = missing_value(heap, Missing::Reason::kForbidden, value, name), true;
  if (value.is(Kind::kNamespace)) {
    const Value* attribute = dict_find(heap, value.space->attributes, Value::str_of(name));
    return attribute && (*found = *attribute, true);
  }
  if (value.is(Kind::kLoop)) return loop_attribute(heap, *value.loop, text, found);
  if (value.is(Kind::kMacro) && text == "name") return *found = make_string(heap, value.macro->def->name), true;
  if (value.is(Kind::kCycler) && text == "current")
    return *found = value.cycler->items->items[value.cycler->position % value.cycler->items->size], true;
  return false;
}

// Index of a character or element from a possibly negative one; false when outside.
bool in_range(int64_t index, uint64_t size, uint64_t* out) {
  if (index < 0) index += static_cast<int64_t>(size);
  if (index < 0 || static_cast<uint64_t>(index) >= size) return false;
  *out = static_cast<uint64_t>(index);
  return true;
}

// Byte offsets of all characters, and of the end.
std::vector<uint64_t> char_offsets(Heap& heap, const Str* text) {
  const std::string_view all = bytes(heap, text);
  heap.scan(all.size() * 8);
  heap.require(length(heap, text), sizeof(uint64_t));
  std::vector<uint64_t> offsets;
  offsets.reserve(length(heap, text) + 1);
  for (uint64_t at = 0; at < all.size(); ++at) {
    if ((static_cast<uint8_t>(all[at]) & 0xC0) != 0x80) offsets.push_back(at);
  }
  offsets.push_back(all.size());
  return offsets;
}

Str* slice_chars(Heap& heap, const Str* text, uint64_t begin, uint64_t end) {
  if (length(heap, text) == text->size) return slice_bytes(heap, text, begin, end);
  const std::string_view all = bytes(heap, text);
  heap.scan(all.size());
  const uint64_t first = byte_of_char(all, begin);
  return slice_bytes(heap, text, first, first + byte_of_char(all.substr(first), end - begin));
}

bool element(Heap& heap, Value value, Value key, Value* found) {
  uint64_t index = 0;
  if (value.is(Kind::kDict)) {
    if (key.is_sequence() || key.is(Kind::kDict)) return false;
    const Value* entry = dict_find(heap, *value.dict, key);
    return entry && (*found = *entry, true);
  }
  if (!key.is_integer()) return false;
  if (value.is_sequence()) return in_range(key.as_int(), value.list->size, &index) && (*found = value.list->items[index], true);
  if (!value.is_string() || !in_range(key.as_int(), length(heap, value.str), &index)) return false;
  return *found = Value::str_of(slice_chars(heap, value.str, index, index + 1), value.markup), true;
}

// Python's rule for slice bounds.
struct SliceBounds {
  int64_t start, stop, step;
};
int64_t bound(Value value, int64_t otherwise, int64_t low, int64_t high, int64_t size) {
  if (value.is(Kind::kNone)) return otherwise;
  if (!value.is_integer()) fail(format("slice bounds must be integers or none, not '{}'", type_name(value)));
  const int64_t at = value.as_int() < 0 ? std::max(value.as_int(), INT64_MIN + size) + size : value.as_int();
  return std::clamp(at, low, high);
}
SliceBounds slice_bounds(Value start, Value stop, Value step, uint64_t length) {
  const auto size = static_cast<int64_t>(length);
  SliceBounds out{0, 0, bound(step, 1, INT64_MIN + 1, INT64_MAX, 0)};
  if (out.step == 0) fail("slice step cannot be zero");
  const bool forward = out.step > 0;
  out.start = bound(start, forward ? 0 : size - 1, forward ? 0 : -1, forward ? size : size - 1, size);
  out.stop = bound(stop, forward ? size : -1, forward ? 0 : -1, forward ? size : size - 1, size);
  return out;
}

template <typename F>
void for_each_index(const SliceBounds& bounds, F&& f) {
  for (int64_t at = bounds.start; bounds.step > 0 ? at < bounds.stop : at > bounds.stop;) {
    f(static_cast<uint64_t>(at));
    if (__builtin_add_overflow(at, bounds.step, &at)) return;
  }
}

Value slice_string(Heap& heap, Value value, const SliceBounds& bounds) {
  if (bounds.step == 1) {
    if (bounds.start >= bounds.stop) return Value::str_of(make_str(heap, {}, Origin::kTemplate), value.markup);
    return Value::str_of(slice_chars(heap, value.str, static_cast<uint64_t>(bounds.start), static_cast<uint64_t>(bounds.stop)),
                         value.markup);
  }
  const std::vector<uint64_t> offsets = char_offsets(heap, value.str);
  StrBuilder out(heap);
  for_each_index(bounds, [&](uint64_t at) { out.append(value.str, offsets[at], offsets[at + 1]); });
  return Value::str_of(out.finish(), value.markup);
}

}  // namespace

Value get_attribute(Heap& heap, Value value, const Str* name) {
  Value found;
  if (value.is_undefined()) fail_missing(heap, value);
  if (plain_attribute(heap, value, name, &found)) return found;
  if (value.is(Kind::kDict) && element(heap, value, Value::str_of(name), &found)) return found;
  return missing_value(heap, Missing::Reason::kAttribute, value, name);
}

Value get_item(Heap& heap, Value value, Value key) {
  Value found;
  if (value.is_undefined()) fail_missing(heap, value);
  if (element(heap, value, key, &found)) return found;
  if (key.is_string()) {
    if (plain_attribute(heap, value, key.str, &found)) return found;
    return missing_value(heap, Missing::Reason::kAttribute, value, key.str);
  }
  const Str* shown = key.is_number() ? copy_str(heap, format("{}", key.is_integer() ? key.as_int() : 0), Origin::kTemplate)
                                     : make_str(heap, type_name(key), Origin::kTemplate);
  return missing_value(heap, Missing::Reason::kElement, value, shown);
}

Value get_slice(Heap& heap, Value value, Value start, Value stop, Value step) {
  if (value.is_undefined()) fail_missing(heap, value);
  if (!value.is_string() && !value.is_sequence())
    return undefined_because(heap, format("a '{}' cannot be sliced", type_name(value)));
  const SliceBounds bounds = slice_bounds(start, stop, step, length_of(heap, value));
  if (value.is_string()) return slice_string(heap, value, bounds);
  std::vector<Value> items;
  for_each_index(bounds, [&](uint64_t at) { items.push_back(value.list->items[at]); });
  Value list = make_list(heap, items, value.kind);
  list.origin = value.origin;
  return list;
}

Value get_path(Heap& heap, Value value, Value path) {
  if (!path.is_string()) return get_item(heap, value, path);
  const std::string_view text = bytes(heap, path.str);
  for (size_t at = 0; at <= text.size();) {
    const size_t dot = std::min(text.find('.', at), text.size());
    const std::string_view part = text.substr(at, dot - at);
    int64_t index = 0;
    const auto parsed = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool numeric = !part.empty() && part[0] != '-' && parsed.ptr == part.data() + part.size();
    heap.node();
    value = get_item(heap, value, numeric && parsed.ec == std::errc() ? Value::int_of(index) : make_string(heap, part));
    at = dot + 1;
  }
  return value;
}

}  // namespace camshaft::text::jinja
