// Methods of dictionaries, lists, loops and cyclers. What would change a value is known by name and refused.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"

namespace camshaft::text::jinja {
namespace {

Value dict_get(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"key", "default"}, 1);
  const Value* found = dict_find(in.heap(), *self.dict, args[0]);
  return found ? *found : args.value_or(1, Value::none());
}

Value dict_items(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  std::vector<Value> pairs;
  for (const Entry& entry : *self.dict) pairs.push_back(make_list(in.heap(), {entry.key, entry.value}, Kind::kTuple));
  return make_list(in.heap(), pairs);
}

Value dict_keys(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return make_list(in.heap(), items_of(in.heap(), self));
}

Value dict_values(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  std::vector<Value> values;
  for (const Entry& entry : *self.dict) values.push_back(entry.value);
  return make_list(in.heap(), values);
}

Value dict_copy(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return self;  // it cannot change
}

Value list_count(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"value"}, 1);
  return Value::int_of(
      std::count_if(self.list->begin(), self.list->end(), [&](Value each) { return equal(in.heap(), each, args[0]); }));
}

Value list_index(Interpreter& in, Value self, const Call& call) {
  const Arguments args(in.heap(), call, {"value"}, 1);
  const Value* found =
      std::find_if(self.list->begin(), self.list->end(), [&](Value each) { return equal(in.heap(), each, args[0]); });
  if (found == self.list->end()) fail("index: the value is not in the list");
  return Value::int_of(found - self.list->begin());
}

Value list_copy(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return self;
}

Value loop_cycle(Interpreter&, Value self, const Call& call) {
  if (call.args.empty()) fail("loop.cycle needs at least one argument");
  return call.args[self.loop->index % call.args.size()];
}

Value loop_changed(Interpreter& in, Value self, const Call& call) {
  const Value now = make_list(in.heap(), call.args, Kind::kTuple);
  Loop& loop = *self.loop;
  const bool changed = !loop.has_changed || !equal(in.heap(), loop.last_changed, now);
  loop.last_changed = now;
  loop.has_changed = true;
  return Value::boolean_of(changed);
}

Value cycler_next(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  return self.cycler->items->items[self.cycler->position++ % self.cycler->items->size];
}

Value cycler_reset(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  self.cycler->position = 0;
  return Value::none();
}

constexpr Named<MethodFunction> kDict[] = {
    {"get", dict_get}, {"items", dict_items}, {"keys", dict_keys}, {"values", dict_values}, {"copy", dict_copy}};
constexpr Named<MethodFunction> kList[] = {{"count", list_count}, {"index", list_index}, {"copy", list_copy}};
constexpr Named<MethodFunction> kTuple[] = {{"count", list_count}, {"index", list_index}};
constexpr Named<MethodFunction> kLoop[] = {{"cycle", loop_cycle}, {"changed", loop_changed}};
constexpr Named<MethodFunction> kCycler[] = {{"next", cycler_next}, {"reset", cycler_reset}};

constexpr std::string_view kDictMutators[] = {"clear", "pop", "popitem", "setdefault", "update"};
constexpr std::string_view kListMutators[] = {"append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"};

}  // namespace

MethodFunction find_method(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::kString: return find_string_method(name);
    case Kind::kDict: return find_named(kDict, name);
    case Kind::kList: return find_named(kList, name);
    case Kind::kTuple: return find_named(kTuple, name);
    case Kind::kLoop: return find_named(kLoop, name);
    case Kind::kCycler: return find_named(kCycler, name);
    default: return nullptr;
  }
}

bool is_mutator(Kind kind, std::string_view name) {
  if (kind == Kind::kDict) return std::find(std::begin(kDictMutators), std::end(kDictMutators), name) != std::end(kDictMutators);
  if (kind == Kind::kList) return std::find(std::begin(kListMutators), std::end(kListMutators), name) != std::end(kListMutators);
  return false;
}

}  // namespace camshaft::text::jinja
