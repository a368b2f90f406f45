#!/usr/bin/env bash
# Camshaft alone on the default model: decode, prefill, a full batch; one JSON object a line. Usage: bench/run_all.sh [CAMSHAFT [MODEL]]
set -euo pipefail
cd "$(dirname "$0")/.."
camshaft=${1:-build/release/camshaft}
model=${2:-models/SmolLM2-135M-Instruct.Q4_1.gguf}
for shape in "8 129 1 5" "512 1 1 5" "128 64 32 32"; do
  read -r input output concurrency requests <<<"$shape"
  "$camshaft" bench "$model" --json --input-len "$input" --output-len "$output" --concurrency "$concurrency" --requests "$requests"
done
