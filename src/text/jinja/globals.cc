// Functions that every template sees.
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/repr.h"
#include "text/jinja/strftime.h"

namespace camshaft::text::jinja {
namespace {

Value global_range(Interpreter& in, Value, const Call& call) {
  const Arguments args(in.heap(), call, {"start", "stop", "step"}, 1);
  for (size_t i = 0; i < 3; ++i) {
    if (args.has(i) && !args[i].is_integer()) fail(format("range() needs integers, not '{}'", type_name(args[i])));
  }
  const bool one = !args.has(1);
  const int64_t start = one ? 0 : args[0].as_int(), stop = one ? args[0].as_int() : args[1].as_int();
  const int64_t step = args.integer(2, 1);
  if (step == 0) fail("range() with a step of zero");
  const auto span = step > 0 ? static_cast<__int128>(stop) - start : static_cast<__int128>(start) - stop;
  const auto stride = step > 0 ? static_cast<__int128>(step) : -static_cast<__int128>(step);
  const __int128 count = span <= 0 ? 0 : (span + stride - 1) / stride;
  if (count > static_cast<__int128>(in.limits().max_range)) fail_limit("range", in.limits().max_range, "numbers");
  std::vector<Value> numbers;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) numbers.push_back(Value::int_of(start + i * step));
  return make_list(in.heap(), numbers);
}

// dict(pairs or mapping, name=value...): also the base of namespace().
void fill_dict(Interpreter& in, Dict& dict, const Call& call) {
  Heap& heap = in.heap();
  if (call.args.size() > 1) fail(format("{} takes at most 1 positional argument, {} were given", call.what, call.args.size()));
  if (!call.args.empty() && call.args[0].is(Kind::kDict)) {
    for (const Entry& entry : *call.args[0].dict) dict_set(heap, dict, entry.key, entry.value);
  } else if (!call.args.empty()) {
    for (Value pair : items_of(heap, call.args[0])) {
      const std::vector<Value> both = items_of(heap, pair);
      if (both.size() != 2) fail(format("{} needs pairs, found {} values", call.what, both.size()));
      dict_set(heap, dict, both[0], both[1]);
    }
  }
  for (const auto& [name, value] : call.named) dict_set(heap, dict, make_string(heap, name), value);
}

Value global_dict(Interpreter& in, Value, const Call& call) {
  Dict* dict = in.heap().make<Dict>();
  fill_dict(in, *dict, call);
  return dict_value(dict);
}

Value global_namespace(Interpreter& in, Value, const Call& call) {
  Value value = Value::of(Kind::kNamespace);
  value.space = in.heap().make<Namespace>();
  fill_dict(in, value.space->attributes, call);
  return value;
}

Value global_cycler(Interpreter& in, Value, const Call& call) {
  if (call.args.empty()) fail("cycler needs at least one item");
  Value value = Value::of(Kind::kCycler);
  value.cycler = in.heap().make<Cycler>(make_list(in.heap(), call.args).list);
  return value;
}

// The joiner's state is a cycler of "nothing" and the separator.
Value joiner_call(Interpreter& in, Value self, const Call& call) {
  const Arguments none(in.heap(), call, {});
  Cycler& state = *self.cycler;
  const Value out = state.items->items[state.position];
  state.position = 1;
  return out;
}

Value global_joiner(Interpreter& in, Value, const Call& call) {
  const Arguments args(in.heap(), call, {"sep"});
  Value state = Value::of(Kind::kCycler);
  const Value separator = args.value_or(0, make_string(in.heap(), ", "));
  state.cycler = in.heap().make<Cycler>(make_list(in.heap(), {make_string(in.heap(), ""), separator}).list);
  Value joiner = Value::of(Kind::kFunction);
  joiner.function = in.heap().make<Function>(std::string_view("joiner"), joiner_call, state);
  return joiner;
}

Value global_raise_exception(Interpreter& in, Value, const Call& call) {
  const Arguments args(in.heap(), call, {"message"}, 1);
  throw Failure{base::invalid_argument(std::string(bytes(in.heap(), to_str(in.heap(), args[0])))).with_reason("template_error"),
                {}};
}

Value global_strftime_now(Interpreter& in, Value, const Call& call) {
  const Arguments args(in.heap(), call, {"format"}, 1);
  if (!args[0].is_string()) fail("strftime_now needs a string");
  const std::string_view pattern = bytes(in.heap(), args[0].str);
  in.heap().scan(pattern.size() * 16);
  in.heap().require(pattern.size() * 16, 1);
  return make_string(in.heap(), format_time(pattern, in.now_unix_seconds()), whole_origin(in.heap(), args[0].str));
}

constexpr Named<MethodFunction> kGlobals[] = {
    {"range", global_range},
    {"dict", global_dict},
    {"namespace", global_namespace},
    {"cycler", global_cycler},
    {"joiner", global_joiner},
    {"raise_exception", global_raise_exception},
    {"strftime_now", global_strftime_now},
};

}  // namespace

MethodFunction find_global(std::string_view name) { return find_named(kGlobals, name); }

}  // namespace camshaft::text::jinja
