#!/usr/bin/env python3
"""Writes a Llama-family GGUF as a Hugging Face folder: float32 safetensors, with config and tokenizer files from a given folder.

    tools/gguf_to_safetensors.py MODEL.gguf SIDE_FILES_FOLDER OUTPUT_FOLDER [--shards N]

Tensors are dequantised exactly; rows of q and k go back from GGUF's order (rotary pairs side by side) to Hugging Face's (halves).
Standard library only, all cores: some ten seconds for 135 million weights on two. Reads F32 F16 BF16 Q8_0 Q4_0 Q4_1.
"""
import argparse
import array
import json
import math
import mmap
import multiprocessing
import os
import pathlib
import re
import shutil
import struct
import sys

NAMES = {
    "token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head",
    "attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
}
LOW = bytes(i & 15 for i in range(256))
HIGH = bytes(i >> 4 for i in range(256))


def q8_0(row, out):
    for d, *q in struct.iter_unpack("<e32b", row):
        out.extend([d * x for x in q])


def q4_0(row, out):
    for d, q in struct.iter_unpack("<e16s", row):
        table = [d * (x - 8) for x in range(16)]
        out.extend(map(table.__getitem__, q.translate(LOW) + q.translate(HIGH)))


def q4_1(row, out):
    # d * q needs 15 bits and is exact; the one rounding happens when array keeps the sum as float32.
    for d, m, q in struct.iter_unpack("<ee16s", row):
        table = [d * x + m for x in range(16)]
        out.extend(map(table.__getitem__, q.translate(LOW) + q.translate(HIGH)))


def f32(row, out):
    out.frombytes(row)


def f16(row, out):
    out.extend(x for (x,) in struct.iter_unpack("<e", row))


def bf16(row, out):
    out.frombytes(b"".join(b"\0\0" + row[i:i + 2] for i in range(0, len(row), 2)))


# ggml type: elements a block, bytes a block, reader of one row
TYPES = {0: (1, 4, f32), 1: (1, 2, f16), 30: (1, 2, bf16), 8: (32, 34, q8_0), 2: (32, 18, q4_0), 3: (32, 20, q4_1)}
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


class Gguf:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.at = 0
        if self.raw(4) != b"GGUF":
            sys.exit(f"{path} is no GGUF file")
        version, tensors, pairs = self.number("I"), self.number("Q"), self.number("Q")
        if version not in (2, 3):
            sys.exit(f"{path}: GGUF version {version} is not read")
        self.metadata = {self.string(): self.value(self.number("I")) for _ in range(pairs)}
        self.tensors = [self.tensor() for _ in range(tensors)]
        alignment = self.metadata.get("general.alignment", 32)
        self.data = -(-self.at // alignment) * alignment

    def raw(self, size):
        self.at += size
        return self.bytes[self.at - size:self.at]

    def number(self, code):
        return struct.unpack("<" + code, self.raw(struct.calcsize("<" + code)))[0]

    def string(self):
        return self.raw(self.number("Q")).decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            element, count = self.number("I"), self.number("Q")
            return [self.value(element) for _ in range(count)]
        return self.number(NUMBERS[kind])

    def tensor(self):
        name = self.string()
        shape = [self.number("Q") for _ in range(self.number("I"))][::-1]
        return name, shape, self.number("I"), self.number("Q")


def hugging_face_name(name):
    match = re.fullmatch(r"(?:blk\.(\d+)\.)?(\w+)\.(weight|bias)", name)
    if match is None or match[2] not in NAMES:
        sys.exit(f"tensor '{name}' has no Hugging Face name known here")
    layer = f"model.layers.{match[1]}." if match[1] is not None else ""
    return f"{layer}{NAMES[match[2]]}.{match[3]}"


def source_rows(name, rows, metadata):
    """Row numbers in the file, in the order in which they are written."""
    heads = {"attn_q": "head_count", "attn_k": "head_count_kv"}.get(name.split(".")[-2])
    if heads is None:
        return range(rows)
    size = rows // metadata[f"llama.attention.{heads}"]
    return [row - row % size + row % size % (size // 2) * 2 + row % size // (size // 2) for row in range(rows)]


def write_tensor(file, gguf, tensor):
    name, shape, kind, offset = tensor
    block, size, unpack = TYPES[kind]
    # A bias is permuted element by element.
    columns = 1 if name.endswith(".bias") else shape[-1]
    row_bytes = columns // block * size
    start = gguf.data + offset
    out = array.array("f")
    for row in source_rows(name, math.prod(shape) // columns, gguf.metadata):
        unpack(gguf.bytes[start + row * row_bytes:start + (row + 1) * row_bytes], out)
        if len(out) > 1 << 20:
            file.write(out.tobytes())
            del out[:]
    file.write(out.tobytes())


def write_tensors(path, gguf, placed):
    with open(path, "r+b") as file:
        for position, tensor in placed:
            file.seek(position)
            write_tensor(file, gguf, tensor)


def write_on_all_cores(path, gguf, placed):
    """Each process writes its tensors at their places; the largest tensors are given out first, each to who has least."""
    parts = [[] for _ in range(min(len(placed), os.cpu_count() or 1))]
    loads = [0] * len(parts)
    for item in sorted(placed, key=lambda item: -math.prod(item[1][1])):
        least = loads.index(min(loads))
        loads[least] += math.prod(item[1][1])
        parts[least].append(item)
    fork = multiprocessing.get_context("fork")
    processes = [fork.Process(target=write_tensors, args=(path, gguf, part)) for part in parts]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        sys.exit(f"{path}: not written, see above")


def write_file(path, gguf, tensors):
    header, sizes = {"__metadata__": {"format": "pt"}}, [4 * math.prod(shape) for _, shape, _, _ in tensors]
    offsets = [sum(sizes[:i]) for i in range(len(sizes) + 1)]
    for tensor, begin, end in zip(tensors, offsets, offsets[1:]):
        header[hugging_face_name(tensor[0])] = {"dtype": "F32", "shape": tensor[1], "data_offsets": [begin, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text)
    write_on_all_cores(path, gguf, [(8 + len(text) + begin, tensor) for begin, tensor in zip(offsets, tensors)])
    return offsets[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("gguf", type=pathlib.Path)
    parser.add_argument("side_files", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--shards", type=int, default=1)
    options = parser.parse_args()
    gguf = Gguf(options.gguf)
    if gguf.metadata.get("general.architecture") != "llama":
        sys.exit(f"architecture '{gguf.metadata.get('general.architecture')}' is not converted; 'llama' is")
    for name, _, kind, _ in gguf.tensors:
        if kind not in TYPES:
            sys.exit(f"tensor '{name}' has ggml type {kind}; F32 F16 BF16 Q8_0 Q4_0 Q4_1 are read")
    options.output.mkdir(parents=True, exist_ok=True)
    for side in sorted(options.side_files.iterdir()):
        if side.suffix in (".json", ".jinja"):
            shutil.copyfile(side, options.output / side.name)
    if options.shards == 1:
        write_file(options.output / "model.safetensors", gguf, gguf.tensors)
        return
    weight_map, total = {}, 0
    for shard in range(options.shards):
        name = f"model-{shard + 1:05d}-of-{options.shards:05d}.safetensors"
        part = gguf.tensors[shard::options.shards]
        total += write_file(options.output / name, gguf, part)
        weight_map.update({hugging_face_name(tensor[0]): name for tensor in part})
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    (options.output / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))


if __name__ == "__main__":
    main()
