// Reads a graph's text form: a line at a time, every name defined before its use, every type checked against what follows from the
// inputs. Errors name the line.
#include <charconv>
#include <map>

#include "base/format.h"
#include "graph/graph.h"

namespace camshaft::graph {
namespace {

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Cuts at the first `separator`: what stands before it comes back, `text` keeps the rest; without one, all of it and nothing.
std::string_view cut(std::string_view& text, std::string_view separator) {
  const size_t at = text.find(separator);
  const std::string_view before = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + separator.size());
  return trim(before);
}

std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> out;
  while (!text.empty()) out.push_back(cut(text, separator));
  return out;
}

class Parser {
 public:
  Parser(ConstantResolver resolver, void* state) : resolver_(resolver), state_(state) {}

  Result<Graph> run(std::string_view text) {
    for (int64_t number = 1; !text.empty(); ++number) {
      const size_t end = std::min(text.find('\n'), text.size());
      Status status = line(trim(text.substr(0, end)));
      if (!status.ok()) return std::move(status).with_context(format("line {}", number));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (!returned_) return base::invalid_argument("the line 'return ...' is missing");
    CS_RETURN_IF_ERROR(verify(graph_));
    return std::move(graph_);
  }

 private:
  Status line(std::string_view text) {
    if (text.empty() || text.starts_with('#')) return base::ok_status();
    if (returned_) return base::invalid_argument(format("'{}' stands after 'return'", text));
    if (text.starts_with("input ")) return input(text.substr(6));
    if (text.starts_with("const ")) return constant(text.substr(6));
    if (text.starts_with("return ")) return outputs(text.substr(7));
    if (text.starts_with('%')) return node(text);
    return base::invalid_argument(format("'{}' is no input, const, node or return", text));
  }

  Status define(std::string_view name, ValueId id) {
    if (ids_.emplace(name, id).second) return base::ok_status();
    return base::invalid_argument(format("'{}' is defined twice", name));
  }

  Status input(std::string_view text) {
    const std::string_view name = cut(text, " : ");
    if (name.size() < 2 || name[0] != '%') return base::invalid_argument(format("input '{}' does not start with %", name));
    CS_ASSIGN_OR_RETURN(ops::ValueType type, ops::parse_type(trim(text)));
    const ValueId id = graph_.add_input(std::string(name.substr(1)), std::move(type));
    graph_.rename(id, std::string(name));
    return define(name, id);
  }

  Status constant(std::string_view text) {
    const std::string_view name = cut(text, " : ");
    const std::string_view type_text = cut(text, " rows ");
    CS_ASSIGN_OR_RETURN(const ops::ValueType type, ops::parse_type(type_text));
    if (type.kind != ops::ValueType::Kind::kWeight || type.shape.size() > 2) {
      return base::invalid_argument(format("constant '{}' is {}, expected a weight of one or two dimensions", name, type_text));
    }
    CS_ASSIGN_OR_RETURN(Constant made, resolver_ != nullptr ? resolver_(name, state_) : shapes_only(name, type, text));
    const ValueId id = graph_.add_constant(std::move(made));
    graph_.rename(id, std::string(name));
    if (graph_.value(id).type == type) return define(name, id);
    return base::invalid_argument(
        format("constant '{}' is {}, the text says {}", name, ops::type_text(graph_.value(id).type), ops::type_text(type)));
  }

  // A constant without bytes. `rows`: "576 + 192 + 192", or empty for one segment.
  static Result<Constant> shapes_only(std::string_view name, const ops::ValueType& type, std::string_view rows) {
    Constant out{std::string(name), {}, {}};
    tensor::TensorView view{type.format, {}, {}};
    for (const ops::Dim& dim : type.shape) view.shape.push_back(dim.size);
    for (const std::string_view part : split(rows, "+")) {
      const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), view.shape[0]);
      if (error != std::errc() || end != part.data() + part.size() || view.shape[0] < 1 || view.shape[0] > INT32_MAX) {
        return base::invalid_argument(format("constant '{}': '{}' is no number of rows", name, part));
      }
      out.segments.push_back(view);
    }
    if (out.segments.empty()) out.segments.push_back(view);
    return out;
  }

  Result<std::vector<ValueId>> named(std::string_view list) const {
    std::vector<ValueId> out;
    for (const std::string_view name : split(list, ",")) {
      const auto found = ids_.find(name);
      if (found == ids_.end()) return base::invalid_argument(format("'{}' is not defined above", name));
      out.push_back(found->second);
    }
    return out;
  }

  // %a, %b = op(%x, w) fields : types  # name; note
  Status node(std::string_view text) {
    std::string_view comment = text;
    text = cut(comment, " # ");
    const std::string_view name = cut(comment, "; ");
    const std::string_view note = trim(comment);
    const std::vector<std::string_view> outputs = split(cut(text, " = "), ",");
    const std::string_view op = cut(text, "(");
    const std::string_view arguments = cut(text, ")");
    const std::vector<std::string_view> fields_and_types = split(text, " : ");
    if (name.empty()) return base::invalid_argument("the node's name ('# name') is missing");
    if (fields_and_types.size() != 2) return base::invalid_argument(format("'{}' is not of the form 'fields : types'", trim(text)));
    CS_ASSIGN_OR_RETURN(const ops::OpKind kind, ops::parse_op(op));
    CS_ASSIGN_OR_RETURN(ops::OpDesc desc, ops::parse_desc(kind, fields_and_types[0]));
    CS_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, named(arguments));
    CS_ASSIGN_OR_RETURN(const std::vector<ValueId> made, graph_.add(std::string(name), std::move(desc), std::move(inputs)));
    graph_.nodes().back().note = note;
    return results(outputs, made, split(fields_and_types[1], ";"));
  }

  Status results(const std::vector<std::string_view>& names, const std::vector<ValueId>& made,
                 const std::vector<std::string_view>& types) {
    if (names.size() != made.size() || types.size() != made.size()) {
      return base::invalid_argument(format("{} names and {} types for {} outputs", names.size(), types.size(), made.size()));
    }
    for (size_t i = 0; i < made.size(); ++i) {
      graph_.rename(made[i], std::string(names[i]));
      CS_RETURN_IF_ERROR(define(names[i], made[i]));
      const std::string expected = ops::type_text(graph_.value(made[i]).type);
      if (types[i] != expected)
        return base::invalid_argument(format("{} is written as {}, but is {}", names[i], types[i], expected));
    }
    return base::ok_status();
  }

  Status outputs(std::string_view list) {
    CS_ASSIGN_OR_RETURN(std::vector<ValueId> ids, named(list));
    graph_.set_outputs(std::move(ids));
    returned_ = true;
    return base::ok_status();
  }

  ConstantResolver resolver_;
  void* state_;
  Graph graph_;
  std::map<std::string, ValueId, std::less<>> ids_;
  bool returned_ = false;
};

}  // namespace

Result<Graph> parse(std::string_view text, ConstantResolver resolver, void* state) { return Parser(resolver, state).run(text); }

}  // namespace camshaft::graph
