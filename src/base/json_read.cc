// Text to Json. Owner of nlohmann-json: its SAX parser feeds a builder that applies our limits.
#include "base/json.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "base/format.h"
#include "base/utf8.h"

namespace camshaft::base {
namespace {

std::string place_of(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return format("line {}, column {}", line, 1 + count_code_points(before.substr(line_start)));
}

// Iterates over the text and leaves its position where the builder can see it: the SAX interface itself does not tell.
class TrackedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedIterator(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  TrackedIterator operator++(int) {
    TrackedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TrackedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

// The sentence of the library without its prefix and without the part that quotes the input.
std::string syntax_reason(std::string_view what) {
  const size_t start = what.find("syntax error");
  if (start != std::string_view::npos) what.remove_prefix(start);
  return std::string(what.substr(0, what.find("; last read")));
}

// Receives the events of one text. Open containers stand on a stack; closing one moves it into the one below.
class Builder {
 public:
  Builder(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits), seen_(text.data()) {}

  TrackedIterator begin() { return {text_.data(), &seen_}; }
  TrackedIterator end() { return {text_.data() + text_.size(), &seen_}; }
  Result<Json> take() {
    if (!status_.ok()) return std::move(status_);
    return std::move(root_);
  }

  bool null() { return add(Json()); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(int64_t value) { return add(value); }
  bool number_unsigned(uint64_t value) { return add(value); }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // never sent for text
  bool start_object(size_t) { return open(JsonObject{}); }
  bool start_array(size_t) { return open(JsonArray{}); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    open_.back().value.as_object().emplace_back(std::move(value), Json());
    key_offsets_.push_back(last_offset());
    return true;
  }
  bool end_object() {
    const JsonObject& members = open_.back().value.as_object();
    if (const size_t index = find_duplicate(members); index < members.size()) {
      return fail(Code::kInvalidArgument, key_offsets_[open_.back().first_key + index],
                  format("key \"{}\" appears twice in one object", members[index].first));
    }
    key_offsets_.resize(open_.back().first_key);
    return close();
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    const size_t offset = position == 0 ? 0 : position - 1;
    return fail(Code::kInvalidArgument, offset,
                error.id == kNumberOverflow ? "the number is too large for a double" : syntax_reason(error.what()));
  }

 private:
  struct Frame {
    Json value;
    size_t first_key;  // into key_offsets_
  };

  size_t last_offset() const { return seen_ == text_.data() ? 0 : static_cast<size_t>(seen_ - text_.data()) - 1; }

  bool fail(Code code, size_t offset, std::string_view reason) {
    status_ = Status(code, format("JSON, {}: {}", place_of(text_, offset), reason));
    return false;
  }

  bool count() {
    if (++num_values_ <= limits_.max_values) return true;
    return fail(Code::kResourceExhausted, last_offset(), format("more than the {} values allowed", limits_.max_values));
  }

  bool add(Json value) {
    if (!count()) return false;
    place(std::move(value));
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= limits_.max_depth) {
      return fail(Code::kResourceExhausted, last_offset(), format("nested deeper than the {} levels allowed", limits_.max_depth));
    }
    if (!count()) return false;
    open_.push_back({std::move(container), key_offsets_.size()});
    return true;
  }

  bool close() {
    Json done = std::move(open_.back().value);
    open_.pop_back();
    place(std::move(done));
    return true;
  }

  void place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Json& parent = open_.back().value; parent.is_array()) {
      parent.as_array().push_back(std::move(value));
    } else {
      parent.as_object().back().second = std::move(value);
    }
  }

  // Index of the first member, in file order, whose key stood before; members.size() where keys are unique.
  size_t find_duplicate(const JsonObject& members) {
    order_.resize(members.size());
    for (size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::sort(order_.begin(), order_.end(), [&members](size_t a, size_t b) {
      const int difference = members[a].first.compare(members[b].first);
      return difference != 0 ? difference < 0 : a < b;
    });
    size_t found = members.size();
    for (size_t i = 1; i < order_.size(); ++i) {
      if (members[order_[i]].first == members[order_[i - 1]].first) found = std::min(found, order_[i]);
    }
    return found;
  }

  std::string_view text_;
  JsonLimits limits_;
  const char* seen_;
  Status status_;
  Json root_;
  std::vector<Frame> open_;
  std::vector<size_t> key_offsets_;  // of the members of all open objects
  std::vector<size_t> order_;        // scratch of find_duplicate
  uint64_t num_values_ = 0;
};

Result<Json> build(std::string_view text, const JsonLimits& limits) {
  try {
    Builder builder(text, limits);
    const bool done = nlohmann::json::sax_parse(builder.begin(), builder.end(), &builder);
    Result<Json> result = builder.take();
    if (result.ok() && !done) return internal_error("JSON: the parser stopped without a reason");
    return result;
  } catch (const std::bad_alloc&) {
    return resource_exhausted(format("JSON: no memory left while reading {} bytes", text.size()));
  } catch (const std::exception& error) {
    return internal_error(format("JSON: {}", error.what()));
  }
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return resource_exhausted(format("JSON: {} bytes, the limit is {}", text.size(), limits.max_bytes));
  }
  if (const size_t bad = utf8_valid_prefix(text); bad != text.size()) {
    return invalid_argument(
        format("JSON, {}: byte 0x{:02x} is not valid UTF-8", place_of(text, bad), static_cast<unsigned char>(text[bad])));
  }
  return build(text, limits);
}

}  // namespace camshaft::base
