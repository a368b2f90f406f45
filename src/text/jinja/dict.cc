// The insertion-ordered dictionary of template values.
#include <algorithm>
#include <cmath>

#include "text/jinja/failure.h"
#include "text/jinja/operators.h"
#include "text/jinja/value.h"

namespace camshaft::text::jinja {
namespace {

constexpr uint64_t kIndexFrom = 12;  // smaller dictionaries are searched in order

uint64_t mix(uint64_t hash, uint64_t bits) { return (hash ^ bits) * 0x9E3779B97F4A7C15ull ^ hash >> 29; }

uint64_t hash_bytes(std::string_view text) {
  uint64_t hash = text.size();
  for (char c : text) hash = mix(hash, static_cast<uint8_t>(c));
  return hash;
}

// Equal values have equal hashes: 1, 1.0 and true are one key.
uint64_t hash_of(Heap& heap, Value key) {
  switch (key.kind) {
    case Kind::kString: heap.scan(key.str->size); return hash_bytes(bytes(heap, key.str));
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
    case Kind::kFloat: return std::hash<double>()(key.as_double());
    case Kind::kTuple: {
      uint64_t hash = key.list->size;
      for (Value item : *key.list) hash = mix(hash, hash_of(heap, item));
      return hash;
    }
    case Kind::kList:
    case Kind::kDict: fail(format("unhashable type: '{}' cannot be a key", type_name(key)));
    default: return static_cast<uint64_t>(key.kind);
  }
}

// The slot that holds the key's entry number + 1, or the free one where it would stand.
uint32_t* find_slot(Heap& heap, const Dict& dict, Value key) {
  for (uint64_t slot = hash_of(heap, key);; ++slot) {
    uint32_t* at = dict.index + slot % dict.index_size;
    heap.node();
    if (*at == 0 || equal(heap, dict.entries[*at - 1].key, key)) return at;
  }
}

void rebuild_index(Heap& heap, Dict& dict) {
  dict.index_size = dict.capacity * 2;
  dict.index = heap.array<uint32_t>(dict.index_size);
  for (uint64_t i = 0; i < dict.size; ++i) *find_slot(heap, dict, dict.entries[i].key) = static_cast<uint32_t>(i + 1);
}

Entry* find_entry(Heap& heap, const Dict& dict, Value key) {
  if (dict.index) {
    const uint32_t slot = *find_slot(heap, dict, key);
    return slot ? dict.entries + slot - 1 : nullptr;
  }
  if (key.is_sequence() || key.is(Kind::kDict)) hash_of(heap, key);  // refuses unhashable keys
  for (Entry* entry = dict.entries; entry != dict.entries + dict.size; ++entry) {
    if (equal(heap, entry->key, key)) return entry;
  }
  return nullptr;
}

void grow(Heap& heap, Dict& dict) {
  const uint64_t capacity = std::max<uint64_t>(4, dict.capacity * 2);
  Entry* entries = heap.array<Entry>(capacity);
  std::copy(dict.entries, dict.entries + dict.size, entries);
  heap.scan(dict.size * sizeof(Entry));
  dict.entries = entries;
  dict.capacity = capacity;
  if (capacity > kIndexFrom) rebuild_index(heap, dict);
}

uint32_t depth_of(Value value) {
  if (value.is_sequence()) return value.list->depth;
  if (value.is(Kind::kIterator)) return value.iterator->items->depth;
  return value.is(Kind::kDict) ? value.dict->depth : 0;
}

}  // namespace

void dict_set(Heap& heap, Dict& dict, Value key, Value value) {
  const uint32_t depth = std::max(depth_of(key), depth_of(value)) + 1;
  if (depth > kMaxValueDepth) fail_limit("value depth", kMaxValueDepth, "levels");
  dict.depth = std::max(dict.depth, depth);
  if (Entry* entry = find_entry(heap, dict, key)) {
    entry->value = value;
    return;
  }
  if (dict.size == dict.capacity) grow(heap, dict);
  uint32_t* slot = dict.index ? find_slot(heap, dict, key) : nullptr;
  dict.entries[dict.size++] = {key, value};
  if (slot) *slot = static_cast<uint32_t>(dict.size);
}

const Value* dict_find(Heap& heap, const Dict& dict, Value key) {
  const Entry* entry = find_entry(heap, dict, key);
  return entry ? &entry->value : nullptr;
}

const Value* dict_find(Heap& heap, const Dict& dict, std::string_view key) {
  Str probe{key.empty() ? "" : key.data(), key.size()};
  return dict_find(heap, dict, Value::str_of(&probe));
}

}  // namespace camshaft::text::jinja
