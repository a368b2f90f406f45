// Ropes, runs and slices of template strings.
#include "text/jinja/str.h"

#include <cstring>

#include "base/utf8.h"
#include "text/jinja/failure.h"

namespace camshaft::text::jinja {
namespace {

// The leaves of a rope, left to right, without recursion: ropes lean as deep as a loop ran.
std::vector<const Str*> leaves_of(Heap& heap, const Str* rope) {
  std::vector<const Str*> leaves, stack{rope};
  while (!stack.empty()) {
    const Str* top = stack.back();
    stack.pop_back();
    heap.node();
    if (top->data) {
      leaves.push_back(top);
      continue;
    }
    stack.push_back(top->right);
    stack.push_back(top->left);
  }
  return leaves;
}

void add_run(std::vector<Run>& runs, uint64_t end, Origin origin) {
  if (!runs.empty() && runs.back().origin == origin)
    runs.back().end = end;
  else
    runs.push_back({end, origin});
}

void set_runs(Heap& heap, Str* text, const std::vector<Run>& runs) {
  if (runs.empty()) return;
  text->origin = runs[0].origin;
  if (runs.size() == 1) return;
  Run* copy = heap.array<Run>(runs.size());
  std::copy(runs.begin(), runs.end(), copy);
  text->runs = copy;
  text->num_runs = runs.size();
}

void join_rope(Heap& heap, Str* rope) {
  const std::vector<const Str*> leaves = leaves_of(heap, rope);
  heap.scan(rope->size);
  char* data = static_cast<char*>(heap.allocate(rope->size));
  std::vector<Run> runs;
  uint64_t at = 0;
  for (const Str* leaf : leaves) {
    if (leaf->size == 0) continue;
    std::memcpy(data + at, leaf->data, leaf->size);
    for_each_run(heap, leaf, 0, leaf->size, [&](std::string_view part, Origin origin) {
      at += part.size();
      add_run(runs, at, origin);
    });
  }
  set_runs(heap, rope, runs);
  rope->data = data;
  rope->left = rope->right = nullptr;
}

}  // namespace

Str* make_str(Heap& heap, std::string_view text, Origin origin) {
  return heap.make<Str>(text.empty() ? "" : text.data(), text.size(), int64_t{-1}, nullptr, uint64_t{0}, origin);
}

Str* copy_str(Heap& heap, std::string_view text, Origin origin) {
  heap.scan(text.size());
  char* data = static_cast<char*>(heap.allocate(text.size()));
  if (!text.empty()) std::memcpy(data, text.data(), text.size());
  return make_str(heap, {data, text.size()}, origin);
}

Str* concat(Heap& heap, const Str* left, const Str* right) {
  if (left->size == 0) return const_cast<Str*>(right);
  if (right->size == 0) return const_cast<Str*>(left);
  heap.require(left->size + right->size, 1);
  Str* rope = heap.make<Str>();
  rope->size = left->size + right->size;
  if (left->chars >= 0 && right->chars >= 0) rope->chars = left->chars + right->chars;
  rope->left = left;
  rope->right = right;
  return rope;
}

std::string_view bytes(Heap& heap, const Str* text) {
  if (!text->data) join_rope(heap, const_cast<Str*>(text));
  return {text->data, text->size};
}

uint64_t length(Heap& heap, const Str* text) {
  if (text->chars < 0) {
    const std::string_view all = bytes(heap, text);
    heap.scan(all.size());
    const_cast<Str*>(text)->chars = static_cast<int64_t>(base::count_code_points(all));
  }
  return static_cast<uint64_t>(text->chars);
}

Str* slice_bytes(Heap& heap, const Str* text, uint64_t begin, uint64_t end) {
  if (begin == 0 && end >= text->size) return const_cast<Str*>(text);
  if (begin >= end) return make_str(heap, {}, text->origin);
  const std::string_view all = bytes(heap, text);
  Str* part = make_str(heap, all.substr(begin, end - begin), text->origin);
  if (text->chars == static_cast<int64_t>(text->size)) part->chars = static_cast<int64_t>(part->size);
  if (text->num_runs == 0) return part;
  std::vector<Run> runs;
  uint64_t at = 0;
  for_each_run(heap, text, begin, end, [&](std::string_view run, Origin origin) { add_run(runs, at += run.size(), origin); });
  heap.scan(runs.size() * sizeof(Run));
  set_runs(heap, part, runs);
  return part;
}

Origin whole_origin(Heap& heap, const Str* text) {
  bytes(heap, text);
  for (uint64_t i = 0; i < text->num_runs; ++i) {
    if (text->runs[i].origin == Origin::kContent) return Origin::kContent;
  }
  return text->num_runs ? Origin::kTemplate : text->origin;
}

void StrBuilder::append(std::string_view text, Origin origin) {
  if (text.empty()) return;
  heap_.scan(text.size());
  if (text.size() > max_bytes_ - text_.size()) fail_limit("output", max_bytes_, "bytes");
  heap_.require(text_.size() + text.size(), 1);
  text_ += text;
  add_run(runs_, text_.size(), origin);
}

void StrBuilder::append(const Str* text, uint64_t begin, uint64_t end) {
  for_each_run(heap_, text, begin, end, [&](std::string_view part, Origin origin) { append(part, origin); });
}

Str* StrBuilder::finish() {
  Str* text = copy_str(heap_, text_, Origin::kTemplate);
  set_runs(heap_, text, runs_);
  return text;
}

std::vector<Span> StrBuilder::spans() const {
  std::vector<Span> spans;
  uint64_t at = 0;
  for (const Run& run : runs_) {
    spans.push_back({run.origin, text_.substr(at, run.end - at)});
    at = run.end;
  }
  return spans;
}

}  // namespace camshaft::text::jinja
