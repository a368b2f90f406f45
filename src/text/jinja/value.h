// Value: what template expressions compute with. Sixteen bytes, copied freely; what it points to lives in the rendering's Heap
// (literals: in the parsed template) and is immutable, except namespaces, iterators and cyclers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "text/jinja/str.h"

namespace camshaft::text::jinja {

enum class Kind : uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBigInt,  // 2^63 to 2^64-1, from JSON only: can be shown and compared, not computed with
  kFloat,
  kString,
  kList,
  kTuple,
  kDict,
  kNamespace,
  kIterator,  // what lazy filters give: iterates once, is always true
  kFunction,
  kMacro,
  kLoop,
  kCycler,
};

struct List;
struct Dict;
struct Namespace;
struct Iterator;
struct Function;
struct Macro;
struct Loop;
struct Cycler;

// Why a value is missing; the message is made only when somebody trips over it.
struct Missing {
  enum class Reason : uint8_t { kName, kAttribute, kElement, kParameter, kForbidden, kOther };
  Reason reason = Reason::kOther;
  const Str* name = nullptr;    // of the variable, attribute or parameter; kOther: the whole message
  std::string_view owner = {};  // type name of the object that lacks it
};

struct Value {
  Kind kind = Kind::kUndefined;
  Origin origin = Origin::kTemplate;  // of numbers, booleans, none and containers; strings know theirs by byte
  bool markup = false;                // a string marked safe: `+` then escapes its partner, as markupsafe does
  union {
    bool boolean;
    int64_t integer = 0;
    uint64_t big;
    double real;
    const Missing* missing;
    const Str* str;
    const List* list;  // kList, kTuple
    const Dict* dict;
    Namespace* space;
    Iterator* iterator;
    const Function* function;
    const Macro* macro;
    Loop* loop;
    Cycler* cycler;
  };

  static Value none() { return of(Kind::kNone); }
  static Value boolean_of(bool b) {
    Value v = of(Kind::kBool);
    v.integer = 0;
    v.boolean = b;
    return v;
  }
  static Value int_of(int64_t i) {
    Value v = of(Kind::kInt);
    v.integer = i;
    return v;
  }
  static Value float_of(double d) {
    Value v = of(Kind::kFloat);
    v.real = d;
    return v;
  }
  static Value str_of(const Str* s, bool markup = false) {
    Value v = of(Kind::kString);
    v.str = s;
    v.markup = markup;
    return v;
  }
  static Value of(Kind kind) {
    Value v;
    v.kind = kind;
    return v;
  }

  bool is(Kind k) const { return kind == k; }
  bool is_undefined() const { return kind == Kind::kUndefined; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_sequence() const { return kind == Kind::kList || kind == Kind::kTuple; }
  bool is_integer() const { return kind == Kind::kInt || kind == Kind::kBool; }  // Python's bool is an int
  bool is_number() const { return is_integer() || kind == Kind::kFloat || kind == Kind::kBigInt; }
  int64_t as_int() const { return kind == Kind::kBool ? boolean : integer; }
  double as_double() const;
};

// `depth` counts how deep values nest below: checked when a container is made, so that walking one never runs out of stack.
struct List {
  const Value* items = nullptr;
  uint64_t size = 0;
  uint32_t depth = 1;
  const Value* begin() const { return items; }
  const Value* end() const { return items + size; }
};

struct Entry {
  Value key;
  Value value;
};
struct Dict {
  Entry* entries = nullptr;  // in order of insertion
  uint64_t size = 0;
  uint64_t capacity = 0;
  uint32_t* index = nullptr;  // open addressing, entry number + 1; null while small
  uint64_t index_size = 0;
  uint32_t depth = 1;
  const Entry* begin() const { return entries; }
  const Entry* end() const { return entries + size; }
};
struct Namespace {
  Dict attributes;
};
struct Iterator {
  const List* items;
  uint64_t next = 0;
};
struct Cycler {
  const List* items;
  uint64_t position = 0;
};

inline constexpr uint32_t kMaxValueDepth = 128;

// Python's name of the type, which template authors know.
std::string_view type_name(Value value);
// An empty collection, zero, none, undefined and the empty string are false.
bool truth(Value value);

Value make_list(Heap& heap, const std::vector<Value>& items, Kind kind = Kind::kList);
Value make_iterator(Heap& heap, const std::vector<Value>& items);
Value make_string(Heap& heap, std::string_view text, Origin origin = Origin::kTemplate);  // copies
Value undefined_name(Heap& heap, std::string_view name);
Value undefined_because(Heap& heap, std::string_view message);
// What a missing value says when it is used.
std::string missing_message(Heap& heap, Value value);
[[noreturn]] void fail_missing(Heap& heap, Value value);

// For dictionaries under construction and namespaces. Keys: strings, numbers, booleans, none and tuples of those.
void dict_set(Heap& heap, Dict& dict, Value key, Value value);
const Value* dict_find(Heap& heap, const Dict& dict, Value key);
const Value* dict_find(Heap& heap, const Dict& dict, std::string_view key);
Value dict_value(const Dict* dict);

// JSON becomes content; strings are views into `json`, which must outlive the heap.
Value from_json(Heap& heap, const Json& json, Origin origin);

// All the things iteration gives: elements, keys, characters. Fails for what cannot be iterated; an iterator is used up.
std::vector<Value> items_of(Heap& heap, Value value);
bool is_iterable(Value value);
// len(): fails for what has none.
uint64_t length_of(Heap& heap, Value value);

}  // namespace camshaft::text::jinja
