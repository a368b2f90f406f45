#!/usr/bin/env python3
"""Writes the small seed files of the checkpoint fuzz targets under tests/fuzz/corpus/. Standard library only."""
import json
import pathlib
import struct

CORPUS = pathlib.Path(__file__).parent.parent / "tests/fuzz/corpus"
U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
PACK = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "?", U64: "Q", I64: "q", F64: "d"}


def gguf_string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf_value(kind, value):
    if kind == STRING:
        return gguf_string(value)
    if kind == ARRAY:
        element, values = value
        return struct.pack("<IQ", element, len(values)) + b"".join(gguf_value(element, v) for v in values)
    return struct.pack("<" + PACK[kind], value)


def gguf(pairs, tensors=(), version=3, alignment=32):
    out = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    for key, kind, value in pairs:
        out += gguf_string(key) + struct.pack("<I", kind) + gguf_value(kind, value)
    data = b""
    for name, shape, kind, size in tensors:
        out += gguf_string(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        out += struct.pack("<IQ", kind, len(data))
        data += bytes(size) + bytes(-size % alignment)
    return out + (bytes(-len(out) % alignment) + data if tensors else b"")


def gguf_seeds():
    architecture = ("general.architecture", STRING, "llama")
    byte_level = [
        architecture,
        ("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "llama-bpe"),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, ["a", "b", "ab", "<|im_end|>"])),
        ("tokenizer.ggml.token_type", ARRAY, (I32, [1, 1, 1, 3])),
        ("tokenizer.ggml.merges", ARRAY, (STRING, ["a b"])),
        ("tokenizer.ggml.eos_token_id", U32, 3), ("tokenizer.chat_template", STRING, "{{ messages }}"),
    ]
    sentence_piece = [
        ("general.name", STRING, "phi-3"), ("tokenizer.ggml.model", STRING, "llama"),
        ("tokenizer.ggml.tokens", ARRAY, (STRING, ["<unk>", "<s>", "</s>", "<0x41>", "\u2581a"])),
        ("tokenizer.ggml.scores", ARRAY, (F32, [0, 0, 0, 0, -1])),
        ("tokenizer.ggml.token_type", ARRAY, (I32, [2, 3, 3, 6, 1])),
        ("tokenizer.ggml.add_space_prefix", BOOL, True), ("general.sampling.temp", F32, 0.5),
    ]
    values = [(f"k{kind}", kind, 1) for kind in PACK] + [("nested", ARRAY, (ARRAY, [(U16, [1, 2])])), ("general.alignment", U32, 64)]
    types = [("f32", [8, 2], 0, 64), ("f16", [4], 1, 8), ("q4_0", [32], 2, 18), ("q4_1", [32], 3, 20), ("q5_0", [32], 6, 22),
             ("q5_1", [32], 7, 24), ("q8_0", [64, 1, 2], 8, 136), ("q4_k", [256], 12, 144), ("q5_k", [256], 13, 176),
             ("q6_k", [256], 14, 210), ("bf16", [2], 30, 4), ("i8", [3], 24, 3)]
    return {"byte_level": gguf(byte_level), "sentence_piece": gguf(sentence_piece, version=2), "values": gguf(values),
            "tensors": gguf([architecture], types), "empty": gguf([])}


def safetensors(header, data=b""):
    text = header if isinstance(header, str) else json.dumps(header, separators=(",", ":"))
    return struct.pack("<Q", len(text.encode())) + text.encode() + data


def safetensors_seeds():
    sizes = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2, "I32": 4, "U32": 4,
             "F32": 4, "F64": 8, "I64": 8, "U64": 8}
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for dtype, size in sizes.items():
        header[dtype] = {"dtype": dtype, "shape": [2, 1], "data_offsets": [offset, offset + 2 * size]}
        offset += 2 * size
    scalar = {"s": {"dtype": "F32", "shape": [], "data_offsets": [0, 4]}, "e": {"dtype": "F32", "shape": [0], "data_offsets": [4, 4]}}
    return {"types": safetensors(header, bytes(offset)), "scalar": safetensors(scalar, bytes(4)), "empty": safetensors("{}  ")}


def tokenizer_seeds():
    split = {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}"}, "behavior": "Isolated", "invert": False}
    byte_level = {
        "added_tokens": [{"id": 3, "content": "<s>", "special": True}], "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, {"type": "Digits", "individual_digits": True},
                                                               {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}]},
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}}]},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"], "ignore_merges": True},
    }
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    pieces = {
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "\u2581"}, replace]},
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip"}]},
        "model": {"type": "BPE", "byte_fallback": True, "unk_token": "<unk>", "vocab": {"<unk>": 0, "<0x0A>": 1, "\u2581": 2, "\u2581\u2581": 3},
                  "merges": [["\u2581", "\u2581"]]},
    }
    metaspace = dict(pieces, normalizer=None,
                     pre_tokenizer={"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": False})
    config = {"bos_token": {"content": "<s>"}, "eos_token": "<s>", "add_bos_token": True}

    def text(value):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    return {"byte_level": text(byte_level) + b"\0" + text(config), "pieces": text(pieces), "metaspace": text(metaspace)}


def main():
    for target, seeds in (("gguf", gguf_seeds()), ("safetensors", safetensors_seeds()), ("tokenizer_json", tokenizer_seeds())):
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in seeds.items():
            (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
