// Call: the arguments of a call, filter or test; Arguments: the same bound to parameter names, as Python binds them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/failure.h"
#include "text/jinja/value.h"

namespace camshaft::text::jinja {

struct Call {
  std::string_view what;  // the callee's name, for errors
  std::vector<Value> args;
  std::vector<std::pair<std::string_view, Value>> named;
};

class Arguments {
 public:
  // Fails when an argument fits no name, is given twice, or one of the first `required` is lacking.
  Arguments(Heap& heap, const Call& call, std::initializer_list<std::string_view> names, size_t required = 0);

  bool has(size_t index) const { return given_[index]; }
  Value operator[](size_t index) const { return values_[index]; }
  Value value_or(size_t index, Value other) const { return given_[index] ? values_[index] : other; }
  // Fail when the argument is of another type. None counts as not given.
  int64_t integer(size_t index, int64_t otherwise) const;
  bool boolean(size_t index, bool otherwise) const { return given_[index] ? truth(values_[index]) : otherwise; }
  const Str* string(size_t index, const Str* otherwise) const;

 private:
  static constexpr size_t kMax = 8;
  Value values_[kMax];
  bool given_[kMax] = {};
  std::string_view names_[kMax];
  std::string_view what_;
};

}  // namespace camshaft::text::jinja
