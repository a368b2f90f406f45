// Making values, walking them, and what counts as true.
#include "text/jinja/value.h"

#include <algorithm>

#include "text/jinja/failure.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

uint32_t depth_of(Value value) {
  if (value.is_sequence()) return value.list->depth;
  if (value.is(Kind::kDict)) return value.dict->depth;
  if (value.is(Kind::kIterator)) return value.iterator->items->depth;
  return 0;
}

std::vector<Value> characters(Heap& heap, const Str* text) {
  heap.require(length(heap, text), sizeof(Str));
  const std::string_view all = bytes(heap, text);
  std::vector<Value> out;
  out.reserve(length(heap, text));
  for (uint64_t at = 0; at < all.size();) {
    uint32_t size = 0;
    decode(all, at, &size);
    heap.node();
    out.push_back(Value::str_of(slice_bytes(heap, text, at, at + size)));
    at += size;
  }
  return out;
}

Value json_array(Heap& heap, const base::JsonArray& array, Origin origin, uint32_t depth);
Value json_object(Heap& heap, const base::JsonObject& object, Origin origin, uint32_t depth);

Value json_value(Heap& heap, const Json& json, Origin origin, uint32_t depth) {
  if (depth > kMaxValueDepth) fail_limit("value depth", kMaxValueDepth, "levels");
  switch (json.kind()) {
    case Json::Kind::kNull: return Value::none();
    case Json::Kind::kBool: return Value::boolean_of(json.as_bool());
    case Json::Kind::kInt: return Value::int_of(*json.int_if());
    case Json::Kind::kUint: {
      Value big = Value::of(Kind::kBigInt);
      big.big = *json.uint_if();
      return big.big <= INT64_MAX ? Value::int_of(static_cast<int64_t>(big.big)) : big;
    }
    case Json::Kind::kDouble: return Value::float_of(json.as_double());
    case Json::Kind::kString: return Value::str_of(make_str(heap, json.as_string(), origin));
    case Json::Kind::kArray: return json_array(heap, json.as_array(), origin, depth);
    case Json::Kind::kObject: return json_object(heap, json.as_object(), origin, depth);
  }
  return Value::none();
}

Value with_origin(Value value, Origin origin) {
  value.origin = origin;
  return value;
}

Value json_array(Heap& heap, const base::JsonArray& array, Origin origin, uint32_t depth) {
  std::vector<Value> items;
  items.reserve(array.size());
  for (const Json& item : array) items.push_back(with_origin(json_value(heap, item, origin, depth + 1), origin));
  return make_list(heap, items);
}

Value json_object(Heap& heap, const base::JsonObject& object, Origin origin, uint32_t depth) {
  Dict* dict = heap.make<Dict>();
  for (const auto& [key, item] : object) {
    dict_set(heap, *dict, Value::str_of(make_str(heap, key, origin)),
             with_origin(json_value(heap, item, origin, depth + 1), origin));
  }
  return dict_value(dict);
}

}  // namespace

double Value::as_double() const {
  switch (kind) {
    case Kind::kFloat: return real;
    case Kind::kBigInt: return static_cast<double>(big);
    default: return static_cast<double>(as_int());
  }
}

std::string_view type_name(Value value) {
  switch (value.kind) {
    case Kind::kUndefined: return "Undefined";
    case Kind::kNone: return "NoneType";
    case Kind::kBool: return "bool";
    case Kind::kInt:
    case Kind::kBigInt: return "int";
    case Kind::kFloat: return "float";
    case Kind::kString: return "str";
    case Kind::kList: return "list";
    case Kind::kTuple: return "tuple";
    case Kind::kDict: return "dict";
    case Kind::kNamespace: return "Namespace";
    case Kind::kIterator: return "generator";
    case Kind::kFunction: return "function";
    case Kind::kMacro: return "Macro";
    case Kind::kLoop: return "LoopContext";
    case Kind::kCycler: return "Cycler";
  }
  return "object";
}

bool truth(Value value) {
  switch (value.kind) {
    case Kind::kUndefined:
    case Kind::kNone: return false;
    case Kind::kBool: return value.boolean;
    case Kind::kInt: return value.integer != 0;
    case Kind::kFloat: return value.real != 0;
    case Kind::kString: return value.str->size != 0;
    case Kind::kList:
    case Kind::kTuple: return value.list->size != 0;
    case Kind::kDict: return value.dict->size != 0;
    default: return true;
  }
}

Value make_list(Heap& heap, const std::vector<Value>& items, Kind kind) {
  Value* copy = heap.array<Value>(items.size());
  std::copy(items.begin(), items.end(), copy);
  heap.scan(items.size() * sizeof(Value));
  uint32_t depth = 0;
  for (Value item : items) depth = std::max(depth, depth_of(item));
  if (depth >= kMaxValueDepth) fail_limit("value depth", kMaxValueDepth, "levels");
  Value list = Value::of(kind);
  list.list = heap.make<List>(copy, items.size(), depth + 1);
  return list;
}

Value make_iterator(Heap& heap, const std::vector<Value>& items) {
  Value iterator = Value::of(Kind::kIterator);
  iterator.iterator = heap.make<Iterator>(make_list(heap, items).list);
  return iterator;
}

Value make_string(Heap& heap, std::string_view text, Origin origin) { return Value::str_of(copy_str(heap, text, origin)); }

Value undefined_name(Heap& heap, std::string_view name) {
  Value value;
  value.missing = heap.make<Missing>(Missing::Reason::kName, make_str(heap, name, Origin::kTemplate));
  return value;
}

Value undefined_because(Heap& heap, std::string_view message) {
  Value value;
  value.missing = heap.make<Missing>(Missing::Reason::kOther, copy_str(heap, message, Origin::kTemplate));
  return value;
}

std::string missing_message(Heap& heap, Value value) {
  const Missing* missing = value.missing;
  if (!missing) return "the value is undefined";
  const std::string_view name = missing->name ? bytes(heap, missing->name) : std::string_view();
  switch (missing->reason) {
    case Missing::Reason::kName: return format("'{}' is undefined", name);
    case Missing::Reason::kAttribute: return format("'{} object' has no attribute '{}'", missing->owner, name);
    case Missing::Reason::kElement: return format("{} object has no element {}", missing->owner, name);
    case Missing::Reason::kParameter: return format("parameter '{}' was not provided", name);
    case Missing::Reason::kForbidden:
      return format("access to '{}' of a '{}' object is not allowed: templates must not change values", name, missing->owner);
    case Missing::Reason::kOther: return std::string(name);
  }
  return "the value is undefined";
}

void fail_missing(Heap& heap, Value value) { fail(missing_message(heap, value)); }

Value dict_value(const Dict* dict) {
  Value value = Value::of(Kind::kDict);
  value.dict = dict;
  return value;
}

Value from_json(Heap& heap, const Json& json, Origin origin) { return with_origin(json_value(heap, json, origin, 0), origin); }

std::vector<Value> items_of(Heap& heap, Value value) {
  switch (value.kind) {
    case Kind::kUndefined: return {};
    case Kind::kString: return characters(heap, value.str);
    case Kind::kList:
    case Kind::kTuple: heap.scan(value.list->size * sizeof(Value)); return {value.list->begin(), value.list->end()};
    case Kind::kDict: {
      std::vector<Value> keys;
      heap.scan(value.dict->size * sizeof(Entry));
      for (const Entry& entry : *value.dict) keys.push_back(entry.key);
      return keys;
    }
    case Kind::kIterator: {
      Iterator& iterator = *value.iterator;
      heap.scan(iterator.items->size * sizeof(Value));
      std::vector<Value> rest(iterator.items->begin() + iterator.next, iterator.items->end());
      iterator.next = iterator.items->size;
      return rest;
    }
    default: fail(format("'{}' object is not iterable", type_name(value)));
  }
}

bool is_iterable(Value value) {
  switch (value.kind) {
    case Kind::kUndefined:
    case Kind::kString:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kIterator:
    case Kind::kLoop: return true;
    default: return false;
  }
}

uint64_t length_of(Heap& heap, Value value) {
  switch (value.kind) {
    case Kind::kUndefined: return 0;
    case Kind::kString: return length(heap, value.str);
    case Kind::kList:
    case Kind::kTuple: return value.list->size;
    case Kind::kDict: return value.dict->size;
    default: fail(format("object of type '{}' has no length", type_name(value)));
  }
}

}  // namespace camshaft::text::jinja
