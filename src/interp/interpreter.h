// Interpreter: runs any graph node by node with the reference kernels (or any others): the oracle for passes and engines.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"
#include "kernels/kernel.h"

namespace camshaft::interp {

struct InterpOptions {
  // Which kernel a node runs with; the reference by default.
  enum class Kernels : uint8_t { kReference, kBest } kernels = Kernels::kReference;
  kernels::Isa isa = kernels::Isa::kGeneric;
  tensor::Format kv_format = tensor::Format::kF32;
  int64_t max_tokens = 8192;  // cache capacity of the one sequence
  int num_threads = 1;
};

// Runs one sequence; keeps its cache between calls. The graph (and the bytes its constants view) outlives this.
class Interpreter {
 public:
  static Result<Interpreter> make(const graph::Graph& graph, const InterpOptions& options);
  Interpreter(Interpreter&&) noexcept;
  Interpreter& operator=(Interpreter&&) noexcept;
  ~Interpreter();

  // Feeds `tokens` at the next positions; returns logits [rows, vocab] of the listed rows (indices into `tokens`), row-major.
  Result<std::vector<float>> run(std::span<const int32_t> tokens, std::span<const int32_t> logit_rows);
  // Forgets the cache.
  void reset();

  // Called with every f32 value as it is made: [rows, columns] dense. For statistics (calibration) and comparisons.
  using Observer = std::function<void(graph::ValueId id, std::span<const float> rows, int64_t columns)>;
  void observe(Observer observer);

 private:
  struct Impl;
  explicit Interpreter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace camshaft::interp
