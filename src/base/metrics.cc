#include "base/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <mutex>
#include <variant>

#include "base/status.h"

namespace camshaft::base {
namespace {

using Instrument = std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>, std::unique_ptr<Histogram>>;
constexpr std::string_view kTypeNames[] = {"counter", "gauge", "histogram"};  // in the order of Instrument

struct Child {
  MetricLabels labels;
  Instrument instrument;
};

struct Family {
  std::string name;
  std::string help;
  size_t type;  // index into Instrument
  std::vector<std::string> aliases;
  std::vector<Child> children;
};

void append_escaped(std::string& out, std::string_view text, bool escape_quotes) {
  for (char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || (c == '"' && escape_quotes)) {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
}

// Whole numbers without exponent, others as the shortest text that reads back.
std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  char buffer[64];
  const bool whole = value == std::trunc(value) && std::abs(value) < kExactIntegers;
  const auto result = whole ? std::to_chars(buffer, buffer + sizeof(buffer), static_cast<int64_t>(value))
                            : std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

void append_label(std::string& out, std::string_view key, std::string_view value) {
  out += out.back() == '{' ? "" : ",";
  out.append(key).append("=\"");
  append_escaped(out, value, true);
  out += '"';
}

// `bound`, where not empty, becomes the label "le".
void append_sample(std::string& out, std::string_view name, const MetricLabels& labels, std::string_view bound, double value) {
  out.append(name);
  if (!labels.empty() || !bound.empty()) {
    out += '{';
    for (const auto& [key, text] : labels) append_label(out, key, text);
    if (!bound.empty()) append_label(out, "le", bound);
    out += '}';
  }
  out.append(" ").append(number_text(value)).append("\n");
}

void append_child(std::string& out, const std::string& name, const MetricLabels& labels, const Histogram& histogram) {
  const std::vector<double>& bounds = histogram.upper_bounds();
  uint64_t below = 0;
  for (size_t i = 0; i <= bounds.size(); ++i) {
    below += histogram.bucket_count(i);
    append_sample(out, name + "_bucket", labels, i < bounds.size() ? number_text(bounds[i]) : "+Inf", static_cast<double>(below));
  }
  append_sample(out, name + "_sum", labels, "", histogram.sum());
  append_sample(out, name + "_count", labels, "", static_cast<double>(below));
}

template <typename Scalar>
void append_child(std::string& out, const std::string& name, const MetricLabels& labels, const Scalar& scalar) {
  append_sample(out, name, labels, "", scalar.value());
}

void append_family(std::string& out, const Family& family, const std::string& name) {
  out.append("# HELP ").append(name).append(" ");
  append_escaped(out, family.help, false);
  out.append("\n# TYPE ").append(name).append(" ").append(kTypeNames[family.type]).append("\n");
  for (const Child& child : family.children) {
    std::visit([&](const auto& instrument) { append_child(out, name, child.labels, *instrument); }, child.instrument);
  }
}

}  // namespace

Histogram::Histogram(std::vector<double> upper_bounds)
    : bounds_(std::move(upper_bounds)), buckets_(std::make_unique<std::atomic<uint64_t>[]>(bounds_.size() + 1)) {
  CS_CHECK(std::is_sorted(bounds_.begin(), bounds_.end(), std::less_equal<>()), "histogram bounds must ascend");
}

void Histogram::observe(double value) {
  if (std::isnan(value)) return;  // would spoil the sum for good
  const auto bucket = std::lower_bound(bounds_.begin(), bounds_.end(), value) - bounds_.begin();
  buckets_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

uint64_t Histogram::count() const {
  uint64_t total = 0;
  for (size_t i = 0; i <= bounds_.size(); ++i) total += bucket_count(i);
  return total;
}

struct MetricsRegistry::Impl {
  // Registering the same name and labels again gives the same object.
  template <typename T, typename... Args>
  T& child(std::string_view name, std::string_view help, MetricLabels labels, Args&&... args) {
    const std::lock_guard lock(mutex);
    const size_t type = Instrument(std::unique_ptr<T>()).index();
    Family& found = family(name, help, type);
    CS_CHECK(found.type == type, name);
    for (Child& known : found.children) {
      if (known.labels == labels) return *std::get<std::unique_ptr<T>>(known.instrument);
    }
    found.children.push_back({std::move(labels), std::make_unique<T>(std::forward<Args>(args)...)});
    return *std::get<std::unique_ptr<T>>(found.children.back().instrument);
  }

  Family* find(std::string_view name) {
    const auto found = std::find_if(families.begin(), families.end(), [name](const Family& family) { return family.name == name; });
    return found == families.end() ? nullptr : &*found;
  }

  Family& family(std::string_view name, std::string_view help, size_t type) {
    if (Family* known = find(name)) return *known;
    return families.emplace_back(Family{std::string(name), std::string(help), type, {}, {}});
  }

  std::mutex mutex;
  std::vector<Family> families;  // in the order of registration
};

MetricsRegistry::MetricsRegistry() : impl_(std::make_unique<Impl>()) {}
MetricsRegistry::~MetricsRegistry() = default;

Counter& MetricsRegistry::counter(std::string_view name, std::string_view help, MetricLabels labels) {
  return impl_->child<Counter>(name, help, std::move(labels));
}

Gauge& MetricsRegistry::gauge(std::string_view name, std::string_view help, MetricLabels labels) {
  return impl_->child<Gauge>(name, help, std::move(labels));
}

Histogram& MetricsRegistry::histogram(std::string_view name, std::string_view help, std::vector<double> upper_bounds,
                                      MetricLabels labels) {
  return impl_->child<Histogram>(name, help, std::move(labels), std::move(upper_bounds));
}

void MetricsRegistry::alias(std::string_view name, std::string_view alias) {
  const std::lock_guard lock(impl_->mutex);
  Family* family = impl_->find(name);
  CS_CHECK(family != nullptr, name);
  family->aliases.emplace_back(alias);
}

std::string MetricsRegistry::expose() const {
  const std::lock_guard lock(impl_->mutex);
  std::string out;
  for (const Family& family : impl_->families) {
    append_family(out, family, "camshaft_" + family.name);
    for (const std::string& alias : family.aliases) append_family(out, family, alias);
  }
  return out;
}

}  // namespace camshaft::base
