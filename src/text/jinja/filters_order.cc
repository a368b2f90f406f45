// Filters that compare: sort, unique, min, max, dictsort, groupby.
#include <algorithm>
#include <numeric>

#include "text/jinja/access.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/text_ops.h"

namespace camshaft::text::jinja {
namespace {

enum class CaseRule : uint8_t { kIgnored, kKept };
CaseRule case_rule(const Arguments& args, size_t index) {
  return args.boolean(index, false) ? CaseRule::kKept : CaseRule::kIgnored;
}

Value fold_case(Interpreter& in, Value key, CaseRule rule) {
  if (rule == CaseRule::kKept || !key.is_string()) return key;
  return Value::str_of(change_case(in.heap(), key.str, Case::kLower));
}

// What an item is compared by: itself or its attribute; several attributes with commas give a list.
Value sort_key(Interpreter& in, Value item, Value attribute, CaseRule rule) {
  if (attribute.is_undefined() || attribute.is(Kind::kNone)) return fold_case(in, item, rule);
  if (!attribute.is_string()) return fold_case(in, get_path(in.heap(), item, attribute), rule);
  const Str comma{",", 1, 1};
  std::vector<Value> keys;
  for (Value part : split(in.heap(), attribute.str, &comma, -1, Side::kLeft))
    keys.push_back(fold_case(in, get_path(in.heap(), item, part), rule));
  return keys.size() == 1 ? keys[0] : make_list(in.heap(), keys);
}

struct Keyed {
  Value key;
  Value item;
};

std::vector<Keyed> with_keys(Interpreter& in, const std::vector<Value>& items, Value attribute, CaseRule rule) {
  std::vector<Keyed> keyed;
  for (Value item : items) {
    in.heap().node();
    keyed.push_back({sort_key(in, item, attribute, rule), item});
  }
  return keyed;
}

// Stable, in both directions. A merge sort of its own: the order of values may fail or contradict itself (NaN), which a
// library's sort need not bear.
void sort_keyed(Heap& heap, std::vector<Keyed>& items, bool reverse) {
  if (reverse) std::reverse(items.begin(), items.end());
  std::vector<Keyed> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t a = begin, b = std::min(begin + width, items.size());
      const size_t a_end = b, b_end = std::min(begin + 2 * width, items.size());
      for (size_t to = begin; to < b_end; ++to) {
        const bool second = a == a_end || (b < b_end && less(heap, items[b].key, items[a].key));
        merged[to] = second ? items[b++] : items[a++];
      }
    }
    items.swap(merged);
  }
  if (reverse) std::reverse(items.begin(), items.end());
}

Value items_list(Heap& heap, const std::vector<Keyed>& keyed) {
  std::vector<Value> items;
  for (const Keyed& each : keyed) items.push_back(each.item);
  return make_list(heap, items);
}

Value filter_sort(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"reverse", "case_sensitive", "attribute"});
  std::vector<Keyed> keyed = with_keys(in, items_of(in.heap(), subject), args.value_or(2, Value()), case_rule(args, 1));
  sort_keyed(in.heap(), keyed, args.boolean(0, false));
  return items_list(in.heap(), keyed);
}

Value filter_dictsort(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"case_sensitive", "by", "reverse"});
  if (subject.is_undefined()) fail_missing(heap, subject);
  if (!subject.is(Kind::kDict)) fail(format("dictsort needs a mapping, not '{}'", type_name(subject)));
  const Str key{"key", 3, 3};
  const std::string_view by = bytes(heap, args.string(1, &key));
  if (by != "key" && by != "value") fail("dictsort: 'by' must be key or value");
  std::vector<Keyed> keyed;
  for (const Entry& entry : *subject.dict) {
    const Value sorted_by = fold_case(in, by == "key" ? entry.key : entry.value, case_rule(args, 0));
    keyed.push_back({sorted_by, make_list(heap, {entry.key, entry.value}, Kind::kTuple)});
  }
  sort_keyed(heap, keyed, args.boolean(2, false));
  return items_list(heap, keyed);
}

Value filter_unique(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"case_sensitive", "attribute"});
  Dict seen;
  std::vector<Value> out;
  for (const Keyed& each : with_keys(in, items_of(in.heap(), subject), args.value_or(1, Value()), case_rule(args, 0))) {
    if (dict_find(in.heap(), seen, each.key)) continue;
    dict_set(in.heap(), seen, each.key, Value::none());
    out.push_back(each.item);
  }
  return make_iterator(in.heap(), out);
}

enum class Pick : uint8_t { kLeast, kGreatest };

template <Pick pick>
Value filter_pick(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"case_sensitive", "attribute"});
  const std::vector<Keyed> keyed = with_keys(in, items_of(in.heap(), subject), args.value_or(1, Value()), case_rule(args, 0));
  if (keyed.empty()) return undefined_because(in.heap(), "no aggregated item, the sequence was empty");
  const Keyed* best = &keyed[0];
  for (const Keyed& each : keyed) {
    const bool better = pick == Pick::kLeast ? less(in.heap(), each.key, best->key) : less(in.heap(), best->key, each.key);
    if (better) best = &each;
  }
  return best->item;
}

// Tuples of (key, items). In Jinja they have the attributes grouper and list as well; here they are plain tuples.
Value filter_groupby(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"attribute", "default", "case_sensitive"}, 1);
  std::vector<Keyed> keyed;
  for (Value item : items_of(heap, subject)) {
    Value key = get_path(heap, item, args[0]);
    if (key.is_undefined() && args.has(1)) key = args[1];
    keyed.push_back({fold_case(in, key, case_rule(args, 2)), item});
  }
  sort_keyed(heap, keyed, false);
  std::vector<Value> groups;
  for (size_t begin = 0; begin < keyed.size();) {
    size_t end = begin;
    std::vector<Value> members;
    for (; end < keyed.size() && equal(heap, keyed[end].key, keyed[begin].key); ++end) members.push_back(keyed[end].item);
    if (end == begin) members.push_back(keyed[end++].item);  // a NaN key equals nothing
    Value key = get_path(heap, members[0], args[0]);
    if (key.is_undefined() && args.has(1)) key = args[1];
    groups.push_back(make_list(heap, {key, make_list(heap, members)}, Kind::kTuple));
    begin = end;
  }
  return make_list(heap, groups);
}

constexpr Named<FilterFunction> kFilters[] = {
    {"sort", filter_sort},
    {"dictsort", filter_dictsort},
    {"unique", filter_unique},
    {"min", filter_pick<Pick::kLeast>},
    {"max", filter_pick<Pick::kGreatest>},
    {"groupby", filter_groupby},
};

}  // namespace

FilterFunction find_order_filter(std::string_view name) { return find_named(kFilters, name); }

}  // namespace camshaft::text::jinja
