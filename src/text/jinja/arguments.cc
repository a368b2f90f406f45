// Binding of arguments to names.
#include "text/jinja/arguments.h"

#include <algorithm>

namespace camshaft::text::jinja {

Arguments::Arguments(Heap& heap, const Call& call, std::initializer_list<std::string_view> names, size_t required)
    : what_(call.what) {
  CS_CHECK(names.size() <= kMax, "too many parameter names");
  std::copy(names.begin(), names.end(), names_);
  if (call.args.size() > names.size()) {
    fail(format("{} takes at most {} arguments, {} were given", call.what, names.size(), call.args.size()));
  }
  for (size_t i = 0; i < call.args.size(); ++i) {
    values_[i] = call.args[i];
    given_[i] = true;
  }
  for (const auto& [name, value] : call.named) {
    const size_t at = static_cast<size_t>(std::find(names_, names_ + names.size(), name) - names_);
    if (at == names.size()) fail(format("{} has no parameter '{}'", call.what, name));
    if (given_[at]) fail(format("{} got its parameter '{}' twice", call.what, name));
    values_[at] = value;
    given_[at] = true;
  }
  heap.node();
  for (size_t i = 0; i < required; ++i) {
    if (!given_[i]) fail(format("{} needs its parameter '{}'", call.what, names_[i]));
  }
}

int64_t Arguments::integer(size_t index, int64_t otherwise) const {
  if (!given_[index] || values_[index].is(Kind::kNone)) return otherwise;
  if (values_[index].is_integer()) return values_[index].as_int();
  fail(format("{}: parameter '{}' must be an integer, not '{}'", what_, names_[index], type_name(values_[index])));
}

const Str* Arguments::string(size_t index, const Str* otherwise) const {
  if (!given_[index] || values_[index].is(Kind::kNone)) return otherwise;
  if (values_[index].is_string()) return values_[index].str;
  fail(format("{}: parameter '{}' must be a string, not '{}'", what_, names_[index], type_name(values_[index])));
}

}  // namespace camshaft::text::jinja
