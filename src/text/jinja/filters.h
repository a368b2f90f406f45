// The tables of filters, tests, methods and global functions. One line a name; each is refused by name when it is not there.
#pragma once

#include <string_view>

#include "text/jinja/ast.h"
#include "text/jinja/value.h"

namespace camshaft::text::jinja {

using MethodFunction = Value (*)(Interpreter&, Value self, const Call&);

template <typename Fn>
struct Named {
  std::string_view name;
  Fn function;
};

template <typename Fn, size_t N>
Fn find_named(const Named<Fn> (&table)[N], std::string_view name) {
  for (const auto& [each, function] : table) {
    if (each == name) return function;
  }
  return nullptr;
}

FilterFunction find_filter(std::string_view name);
TestFunction find_test(std::string_view name);
// The parts of find_filter.
FilterFunction find_text_filter(std::string_view name);
FilterFunction find_number_filter(std::string_view name);
FilterFunction find_list_filter(std::string_view name);
FilterFunction find_order_filter(std::string_view name);

// A method of a value of this kind, or null.
MethodFunction find_method(Kind kind, std::string_view name);
MethodFunction find_string_method(std::string_view name);
MethodFunction find_string_search(std::string_view name);
MethodFunction find_string_class(std::string_view name);
// Python has this method and it would change the value.
bool is_mutator(Kind kind, std::string_view name);

MethodFunction find_global(std::string_view name);

}  // namespace camshaft::text::jinja
