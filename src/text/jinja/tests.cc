// Tests: what may stand behind `is`, and their names in select() and reject().
#include "text/jinja/filters.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/unicode.h"

namespace camshaft::text::jinja {
namespace {

void no_arguments(Interpreter& in, const Call& call) { const Arguments none(in.heap(), call, {}); }

template <bool (*predicate)(Value)>
bool test_value(Interpreter& in, Value value, const Call& call) {
  no_arguments(in, call);
  return predicate(value);
}

template <Op op>
bool test_compare(Interpreter& in, Value value, const Call& call) {
  const Arguments args(in.heap(), call, {"other"}, 1);
  return compare(in.heap(), op, value, args[0]);
}

bool is_defined(Value value) { return !value.is_undefined(); }
bool is_undefined(Value value) { return value.is_undefined(); }
bool is_none(Value value) { return value.is(Kind::kNone); }
bool is_string(Value value) { return value.is_string(); }
bool is_mapping(Value value) { return value.is(Kind::kDict); }
// Python asks for len() and indexing, which undefined has as well.
bool is_sequence(Value value) { return value.is_sequence() || value.is_string() || value.is(Kind::kDict) || value.is_undefined(); }
bool is_number(Value value) { return value.is_number(); }
bool is_integer(Value value) { return value.is(Kind::kInt) || value.is(Kind::kBigInt); }
bool is_float(Value value) { return value.is(Kind::kFloat); }
bool is_boolean(Value value) { return value.is(Kind::kBool); }
bool is_true(Value value) { return value.is(Kind::kBool) && value.boolean; }
bool is_false(Value value) { return value.is(Kind::kBool) && !value.boolean; }
bool is_callable(Value value) {
  return value.is(Kind::kFunction) || value.is(Kind::kMacro) || value.is(Kind::kLoop) || value.is_undefined();
}
bool is_escaped(Value value) { return value.is_string() && value.markup; }

bool test_sameas(Interpreter& in, Value value, const Call& call) {
  const Arguments args(in.heap(), call, {"other"}, 1);
  if (value.kind != args[0].kind) return false;
  if (value.is(Kind::kNone)) return true;
  if (value.is_string()) return equal(in.heap(), value, args[0]);
  return value.is(Kind::kBool) ? value.boolean == args[0].boolean : value.integer == args[0].integer;
}

Value remainder_by(Interpreter& in, Value value, Value divisor) { return arithmetic(in.heap(), Op::kMod, value, divisor); }

template <int64_t wanted>
bool test_parity(Interpreter& in, Value value, const Call& call) {
  no_arguments(in, call);
  return equal(in.heap(), remainder_by(in, value, Value::int_of(2)), Value::int_of(wanted));
}

bool test_divisibleby(Interpreter& in, Value value, const Call& call) {
  const Arguments args(in.heap(), call, {"num"}, 1);
  return equal(in.heap(), remainder_by(in, value, args[0]), Value::int_of(0));
}

template <MethodFunction (*find)(std::string_view), char first>
bool test_case(Interpreter& in, Value value, const Call& call) {
  no_arguments(in, call);
  if (!value.is_string()) return false;
  return truth(find(first == 'l' ? "islower" : "isupper")(in, value, Call{}));
}

bool test_filter_name(Interpreter& in, Value value, const Call& call) {
  no_arguments(in, call);
  return value.is_string() && find_filter(bytes(in.heap(), value.str));
}
bool test_test_name(Interpreter& in, Value value, const Call& call) {
  no_arguments(in, call);
  return value.is_string() && find_test(bytes(in.heap(), value.str));
}

constexpr Named<TestFunction> kTests[] = {
    {"defined", test_value<is_defined>},
    {"undefined", test_value<is_undefined>},
    {"none", test_value<is_none>},
    {"string", test_value<is_string>},
    {"mapping", test_value<is_mapping>},
    {"iterable", test_value<is_iterable>},
    {"sequence", test_value<is_sequence>},
    {"number", test_value<is_number>},
    {"integer", test_value<is_integer>},
    {"float", test_value<is_float>},
    {"boolean", test_value<is_boolean>},
    {"true", test_value<is_true>},
    {"false", test_value<is_false>},
    {"callable", test_value<is_callable>},
    {"escaped", test_value<is_escaped>},
    {"sameas", test_sameas},
    {"odd", test_parity<1>},
    {"even", test_parity<0>},
    {"divisibleby", test_divisibleby},
    {"lower", test_case<find_string_class, 'l'>},
    {"upper", test_case<find_string_class, 'u'>},
    {"in", test_compare<Op::kIn>},
    {"eq", test_compare<Op::kEq>},
    {"equalto", test_compare<Op::kEq>},
    {"==", test_compare<Op::kEq>},
    {"ne", test_compare<Op::kNe>},
    {"!=", test_compare<Op::kNe>},
    {"lt", test_compare<Op::kLt>},
    {"lessthan", test_compare<Op::kLt>},
    {"<", test_compare<Op::kLt>},
    {"le", test_compare<Op::kLe>},
    {"<=", test_compare<Op::kLe>},
    {"gt", test_compare<Op::kGt>},
    {"greaterthan", test_compare<Op::kGt>},
    {">", test_compare<Op::kGt>},
    {"ge", test_compare<Op::kGe>},
    {">=", test_compare<Op::kGe>},
    {"filter", test_filter_name},
    {"test", test_test_name},
};

}  // namespace

TestFunction find_test(std::string_view name) { return find_named(kTests, name); }

}  // namespace camshaft::text::jinja
