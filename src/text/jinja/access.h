// Attribute, element and slice access with the sandbox's rules: only data and the methods listed in methods.cc are seen.
#pragma once

#include "text/jinja/value.h"

namespace camshaft::text::jinja {

// value.name: a method first, then the element.
Value get_attribute(Heap& heap, Value value, const Str* name);
// value[key]: the element first, then a method.
Value get_item(Heap& heap, Value value, Value key);
// value[start:stop:step]; none for a bound that is left out.
Value get_slice(Heap& heap, Value value, Value start, Value stop, Value step);
// Follows "a.b.0", as filters take attributes; a number is an index.
Value get_path(Heap& heap, Value value, Value path);

}  // namespace camshaft::text::jinja
