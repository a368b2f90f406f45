// Filters on sequences. Those that are lazy in Jinja give an iterator here too: it runs once and counts as true.
#include <algorithm>

#include "text/jinja/access.h"
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"
#include "text/jinja/text_ops.h"

namespace camshaft::text::jinja {
namespace {

Value filter_first(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  if (subject.is(Kind::kIterator)) {
    Iterator& iterator = *subject.iterator;
    if (iterator.next < iterator.items->size) return iterator.items->items[iterator.next++];
  } else if (subject.is_string()) {
    if (subject.str->size) return get_item(in.heap(), subject, Value::int_of(0));
  } else if (const std::vector<Value> items = items_of(in.heap(), subject); !items.empty()) {
    return items.front();
  }
  return undefined_because(in.heap(), "no first item, the sequence was empty");
}

Value filter_last(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  if (subject.is(Kind::kIterator)) fail("last needs a sequence, not a generator; put 'list' in front");
  if (subject.is_string() && subject.str->size) return get_item(in.heap(), subject, Value::int_of(-1));
  const std::vector<Value> items = items_of(in.heap(), subject);
  return items.empty() ? undefined_because(in.heap(), "no last item, the sequence was empty") : items.back();
}

Value filter_list(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return make_list(in.heap(), items_of(in.heap(), subject));
}

Value attribute_or(Interpreter& in, Value item, Value path, Value otherwise) {
  const Value found = get_path(in.heap(), item, path);
  return found.is_undefined() && !otherwise.is_undefined() ? otherwise : found;
}

Value filter_join(Interpreter& in, Value subject, const Call& call) {
  Heap& heap = in.heap();
  const Arguments args(heap, call, {"d", "attribute"});
  std::vector<Value> items = items_of(heap, subject);
  for (Value& item : items) {
    if (args.has(1) && !args[1].is(Kind::kNone)) item = get_path(heap, item, args[1]);
    item = Value::str_of(to_str(heap, item));
  }
  return Value::str_of(join(heap, to_str(heap, args.value_or(0, make_string(heap, ""))), items));
}

Value filter_reverse(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  if (subject.is_string()) return get_slice(in.heap(), subject, Value::none(), Value::none(), Value::int_of(-1));
  std::vector<Value> items = items_of(in.heap(), subject);
  std::reverse(items.begin(), items.end());
  return make_iterator(in.heap(), items);
}

// The call less its first `count` arguments: what map() and select() hand on.
Call rest_of(const Call& call, size_t count) {
  Call rest = call;
  rest.args.erase(rest.args.begin(), rest.args.begin() + static_cast<std::ptrdiff_t>(count));
  return rest;
}

const Str* name_argument(const Call& call, size_t index) {
  if (!call.args[index].is_string())
    fail(format("{}: the name must be a string, not '{}'", call.what, type_name(call.args[index])));
  return call.args[index].str;
}

Value filter_map(Interpreter& in, Value subject, const Call& call) {
  std::vector<Value> items = items_of(in.heap(), subject);
  if (call.args.empty()) {
    const Arguments args(in.heap(), Call{call.what, {}, call.named}, {"attribute", "default"}, 1);
    for (Value& item : items) item = attribute_or(in, item, args[0], args.value_or(1, Value()));
  } else {
    const Str* name = name_argument(call, 0);
    const Call rest = rest_of(call, 1);
    for (Value& item : items) item = in.apply_filter(name, item, rest);
  }
  return make_iterator(in.heap(), items);
}

enum class Keep : uint8_t { kPassing, kFailing };
enum class By : uint8_t { kItem, kAttribute };

template <Keep keep, By by>
Value filter_select(Interpreter& in, Value subject, const Call& call) {
  constexpr size_t kOffset = by == By::kAttribute;
  if (call.args.size() < kOffset) fail(format("{} needs the name of an attribute", call.what));
  std::vector<Value> chosen;
  const bool has_test = call.args.size() > kOffset;
  const Str* test = has_test ? name_argument(call, kOffset) : nullptr;
  const Call rest = has_test ? rest_of(call, kOffset + 1) : Call{};
  for (Value item : items_of(in.heap(), subject)) {
    in.heap().node();
    const Value tested = by == By::kAttribute ? get_path(in.heap(), item, call.args[0]) : item;
    const bool passes = has_test ? in.apply_test(test, tested, rest) : truth(tested);
    if (passes == (keep == Keep::kPassing)) chosen.push_back(item);
  }
  return make_iterator(in.heap(), chosen);
}

Value filter_batch(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"linecount", "fill_with"}, 1);
  const std::vector<Value> items = items_of(in.heap(), subject);
  const int64_t width = args.integer(0, 0);
  if (width < 1) fail("batch: the line count must be above 0");
  std::vector<Value> batches;
  for (size_t at = 0; at < items.size(); at += static_cast<size_t>(width)) {
    const size_t end = std::min(items.size(), at + static_cast<size_t>(width));
    std::vector<Value> batch(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(end));
    if (args.has(1) && !args[1].is(Kind::kNone)) {
      in.heap().require(static_cast<uint64_t>(width), sizeof(Value));
      batch.resize(static_cast<size_t>(width), args[1]);
    }
    batches.push_back(make_list(in.heap(), batch));
    if (end == items.size()) break;
  }
  return make_iterator(in.heap(), batches);
}

Value filter_slice(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"slices", "fill_with"}, 1);
  const std::vector<Value> items = items_of(in.heap(), subject);
  const int64_t count = args.integer(0, 0);
  if (count < 1) fail("slice: the number of slices must be above 0");
  const auto slices = static_cast<size_t>(count);
  in.heap().require(slices, sizeof(List) + sizeof(Value));
  std::vector<Value> out;
  size_t at = 0;
  for (size_t i = 0; i < slices; ++i) {
    in.heap().node();
    const bool longer = i < items.size() % slices;
    const size_t end = at + items.size() / slices + longer;
    std::vector<Value> part(items.begin() + static_cast<std::ptrdiff_t>(at), items.begin() + static_cast<std::ptrdiff_t>(end));
    if (args.has(1) && !args[1].is(Kind::kNone) && !longer) part.push_back(args[1]);
    out.push_back(make_list(in.heap(), part));
    at = end;
  }
  return make_iterator(in.heap(), out);
}

Value filter_items(Interpreter& in, Value subject, const Call& call) {
  const Arguments none(in.heap(), call, {});
  std::vector<Value> pairs;
  if (!subject.is_undefined()) {
    if (!subject.is(Kind::kDict)) fail(format("items needs a mapping, not '{}'", type_name(subject)));
    for (const Entry& entry : *subject.dict) pairs.push_back(make_list(in.heap(), {entry.key, entry.value}, Kind::kTuple));
  }
  return make_iterator(in.heap(), pairs);
}

Value filter_sum(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"attribute", "start"});
  Value sum = args.value_or(1, Value::int_of(0));
  for (Value item : items_of(in.heap(), subject)) {
    in.heap().node();
    if (args.has(0) && !args[0].is(Kind::kNone)) item = get_path(in.heap(), item, args[0]);
    if (sum.is_string()) fail("sum cannot add strings; use join");
    sum = arithmetic(in.heap(), Op::kAdd, sum, item);
  }
  return sum;
}

Value filter_attr(Interpreter& in, Value subject, const Call& call) {
  const Arguments args(in.heap(), call, {"name"}, 1);
  const Value name = Value::str_of(to_str(in.heap(), args[0]));
  if (subject.is(Kind::kDict) && !find_method(Kind::kDict, bytes(in.heap(), name.str))) {
    return undefined_because(in.heap(), format("'dict object' has no attribute '{}'", bytes(in.heap(), name.str)));
  }
  return get_attribute(in.heap(), subject, name.str);
}

constexpr Named<FilterFunction> kFilters[] = {
    {"first", filter_first},
    {"last", filter_last},
    {"list", filter_list},
    {"join", filter_join},
    {"reverse", filter_reverse},
    {"map", filter_map},
    {"select", filter_select<Keep::kPassing, By::kItem>},
    {"reject", filter_select<Keep::kFailing, By::kItem>},
    {"selectattr", filter_select<Keep::kPassing, By::kAttribute>},
    {"rejectattr", filter_select<Keep::kFailing, By::kAttribute>},
    {"batch", filter_batch},
    {"slice", filter_slice},
    {"items", filter_items},
    {"sum", filter_sum},
    {"attr", filter_attr},
};

}  // namespace

FilterFunction find_list_filter(std::string_view name) { return find_named(kFilters, name); }

}  // namespace camshaft::text::jinja
