// Str: a template string. Immutable, and every byte knows whether it stems from the template or from content.
// Concatenation is lazy (a rope), so that a template that builds its text piece by piece stays linear.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/heap.h"
#include "text/tokenizer.h"

namespace camshaft::text::jinja {

using Origin = Span::Origin;

// Bytes up to `end` (from the previous run's end) have this origin.
struct Run {
  uint64_t end = 0;
  Origin origin = Origin::kTemplate;
};

struct Str {
  const char* data = nullptr;  // null only while this is an unjoined rope
  uint64_t size = 0;
  int64_t chars = -1;         // code points; -1 until asked for
  const Run* runs = nullptr;  // null: all of it has `origin`
  uint64_t num_runs = 0;
  Origin origin = Origin::kTemplate;
  const Str* left = nullptr;  // a rope's halves
  const Str* right = nullptr;
};

// A Str over bytes that outlive the heap.
Str* make_str(Heap& heap, std::string_view text, Origin origin);
Str* copy_str(Heap& heap, std::string_view text, Origin origin);
Str* concat(Heap& heap, const Str* left, const Str* right);
// The joined bytes. Str is logically immutable: joining and counting only fill caches (never on a literal of the template,
// which several renderings share; those come with both).
std::string_view bytes(Heap& heap, const Str* text);
uint64_t length(Heap& heap, const Str* text);
// Bytes [begin, end).
Str* slice_bytes(Heap& heap, const Str* text, uint64_t begin, uint64_t end);
// kContent when any byte is.
Origin whole_origin(Heap& heap, const Str* text);

// Text under construction, with its origins.
class StrBuilder {
 public:
  explicit StrBuilder(Heap& heap) : heap_(heap) {}
  StrBuilder(Heap& heap, uint64_t max_bytes) : heap_(heap), max_bytes_(max_bytes) {}

  void append(std::string_view text, Origin origin);
  void append(const Str* text) { append(text, 0, text->size); }
  void append(const Str* text, uint64_t begin, uint64_t end);
  uint64_t size() const { return text_.size(); }
  Str* finish();
  // What was written, as spans of the public kind.
  std::vector<Span> spans() const;

 private:
  Heap& heap_;
  uint64_t max_bytes_ = UINT64_MAX;  // the limit of the output, where this is output
  std::string text_;
  std::vector<Run> runs_;
};

// Calls f(bytes, origin) for each run of the joined text within [begin, end).
template <typename F>
void for_each_run(Heap& heap, const Str* text, uint64_t begin, uint64_t end, F&& f) {
  const std::string_view all = bytes(heap, text);
  if (text->num_runs == 0) {
    if (begin < end) f(all.substr(begin, end - begin), text->origin);
    return;
  }
  uint64_t low = 0, high = text->num_runs;
  while (low < high) {  // the first run that ends behind `begin`
    const uint64_t middle = (low + high) / 2;
    if (text->runs[middle].end <= begin)
      low = middle + 1;
    else
      high = middle;
  }
  for (uint64_t at = begin; low < text->num_runs && at < end; ++low) {
    const uint64_t stop = text->runs[low].end < end ? text->runs[low].end : end;
    f(all.substr(at, stop - at), text->runs[low].origin);
    at = stop;
  }
}

}  // namespace camshaft::text::jinja
