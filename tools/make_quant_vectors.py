#!/usr/bin/env python3
"""Writes tests/golden/quant_vectors.txt: random blocks of ggml's formats with the values that the PyPI package `gguf` (0.19) gives.

One line a case: format, blocks in hex, float32 values in hex (little-endian). Needs numpy and gguf: pip install gguf==0.19 numpy
"""
import pathlib
import sys

import gguf
import numpy as np
from gguf.constants import GGMLQuantizationType as T

# Format, byte offsets of its f16 fields, so that random bytes there give finite, ordinary numbers.
CASES = [
    (T.Q8_0, [0]), (T.Q4_0, [0]), (T.Q4_1, [0, 2]), (T.Q5_0, [0]), (T.Q5_1, [0, 2]),
    (T.Q4_K, [0, 2]), (T.Q5_K, [0, 2]), (T.Q6_K, [208]),
]


def main():
    random = np.random.default_rng(7)
    lines = []
    for kind, halves in CASES:
        elements, size = gguf.constants.GGML_QUANT_SIZES[kind]
        blocks = random.integers(0, 256, (4 if elements == 32 else 2, size), dtype=np.uint8)
        for offset in halves:
            blocks[:, offset:offset + 2] = random.normal(0, 0.03, (len(blocks), 1)).astype("<f2").view(np.uint8)
        blocks[0, halves[0]:halves[0] + 2] = np.frombuffer(np.float16(3e-6).tobytes(), np.uint8)  # a subnormal scale
        values = gguf.quants.dequantize(blocks.reshape(-1), kind).astype("<f4")
        lines.append(f"{kind.name.lower()} {blocks.tobytes().hex()} {values.tobytes().hex()}\n")
    path = pathlib.Path(__file__).parent.parent / "tests/golden/quant_vectors.txt"
    path.write_text("# made by tools/make_quant_vectors.py; format, blocks, float32 values\n" + "".join(lines))
    print(f"{path}: {len(lines)} cases", file=sys.stderr)


if __name__ == "__main__":
    main()
