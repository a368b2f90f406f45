#!/usr/bin/env python3
"""Writes tests/golden/tiny/: small random Llama-like checkpoints with logits computed here, in plain Python floats (64 bits).

The arithmetic below is written from the published formulas and shares nothing with the C++ side, so that the two check each other.
Run without arguments from anywhere; the same seed gives the same bytes. Needs only the standard library.
"""
import json
import math
import pathlib
import random
import struct

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "tiny"
HIDDEN, HEADS, KV_HEADS, FFN, VOCAB, LAYERS, CONTEXT = 32, 4, 2, 40, 48, 2, 64
EPS = 1e-5
PROMPT = [3, 17, 41, 8, 46, 0, 29, 33, 33, 5, 12, 47]
GREEDY = 8


# ---- numbers as files store them ----
def to_bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits += 0x7FFF + ((bits >> 16) & 1)
    return bits >> 16


def from_bf16(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def stored(kind, x):
    """x as it reads back from the file, and its bytes."""
    if kind == "BF16":
        return from_bf16(to_bf16(x)), struct.pack("<H", to_bf16(x))
    code = {"F16": "<e", "F32": "<f"}[kind]
    raw = struct.pack(code, x)
    return struct.unpack(code, raw)[0], raw


# ---- the model ----
def matrix(rng, rows, columns, scale):
    return [[rng.gauss(0, scale) for _ in range(columns)] for _ in range(rows)]


def make_weights(case):
    rng = random.Random(case["seed"])
    dim = case["head_dim"]
    w = {"embed": matrix(rng, VOCAB, HIDDEN, 0.6), "norm": matrix(rng, 1, HIDDEN, 0.2)}
    shapes = {"q": (HEADS * dim, HIDDEN), "k": (KV_HEADS * dim, HIDDEN), "v": (KV_HEADS * dim, HIDDEN), "o": (HIDDEN, HEADS * dim),
              "gate": (FFN, HIDDEN), "up": (FFN, HIDDEN), "down": (HIDDEN, FFN)}
    for layer in range(LAYERS):
        for name in ("attention_norm", "mlp_norm"):
            w[name, layer] = [[1 + x for x in matrix(rng, 1, HIDDEN, 0.2)[0]]]
        for name, (rows, columns) in shapes.items():
            w[name, layer] = matrix(rng, rows, columns, 1.6 / math.sqrt(columns))
            if name in case["biases"]:
                w[name + ".bias", layer] = matrix(rng, 1, rows, 0.3)
    w["norm"] = [[1 + x for x in w["norm"][0]]]
    if not case["tied"]:
        w["head"] = matrix(rng, VOCAB, HIDDEN, 0.4)
    for key, rows in w.items():
        kind = tensor_kind(case, rows)
        w[key] = [[stored(kind, x)[0] for x in row] for row in rows]
    return w


def tensor_kind(case, rows):
    return case["vector_kind"] if len(rows) == 1 else case["kind"]


def frequencies(case):
    """Inverse frequencies and the factor on cos and sin."""
    dim, theta, rope = case["head_dim"], case["theta"], case["rope"]
    base = [theta ** (-2 * i / dim) for i in range(dim // 2)]
    if rope["type"] == "linear":
        return [f / rope["factor"] for f in base], 1.0
    if rope["type"] == "llama3":
        out = []
        for f in base:
            wave = 2 * math.pi / f
            if wave < rope["original"] / rope["high"]:
                out.append(f)
            elif wave > rope["original"] / rope["low"]:
                out.append(f / rope["factor"])
            else:
                s = (rope["original"] / wave - rope["low"]) / (rope["high"] - rope["low"])
                out.append((1 - s) * f / rope["factor"] + s * f)
        return out, 1.0
    assert rope["type"] == "yarn"
    r_fast = [rope["original"] * f / (2 * math.pi) for f in base]  # turns within the old context
    border = lambda turns: dim * math.log(rope["original"] / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low, high = max(math.floor(border(32)), 0), min(math.ceil(border(1)), dim - 1)
    assert len(r_fast) == len(base) and low < high
    out = []
    for i, f in enumerate(base):
        gamma = 1 - min(max((i - low) / (high - low), 0), 1)
        out.append((1 - gamma) * f / rope["factor"] + gamma * f)
    return out, 0.1 * math.log(rope["factor"]) + 1


def linear(w, name, layer, x):
    y = [sum(a * b for a, b in zip(row, x)) for row in w[name, layer]]
    bias = w.get((name + ".bias", layer))
    return [a + b for a, b in zip(y, bias[0])] if bias else y


def rms_norm(x, weight):
    mean = sum(a * a for a in x) / len(x)
    return [a / math.sqrt(mean + EPS) * b for a, b in zip(x, weight)]


def turn(case, x, position, inverse, magnitude):
    """Rotates pairs (i, i + dim/2) of every head."""
    dim = case["head_dim"]
    out = list(x)
    for head in range(0, len(x), dim):
        for i, f in enumerate(inverse):
            c, s = math.cos(position * f) * magnitude, math.sin(position * f) * magnitude
            a, b = x[head + i], x[head + i + dim // 2]
            out[head + i], out[head + i + dim // 2] = a * c - b * s, a * s + b * c
    return out


def forward(case, w, ids):
    """Logits of every position."""
    dim, group = case["head_dim"], HEADS // KV_HEADS
    inverse, magnitude = frequencies(case)
    xs = [list(w["embed"][i]) for i in ids]
    for layer in range(LAYERS):
        hs = [rms_norm(x, w["attention_norm", layer][0]) for x in xs]
        qs = [turn(case, linear(w, "q", layer, h), p, inverse, magnitude) for p, h in enumerate(hs)]
        ks = [turn(case, linear(w, "k", layer, h), p, inverse, magnitude) for p, h in enumerate(hs)]
        vs = [linear(w, "v", layer, h) for h in hs]
        for p, x in enumerate(xs):
            mixed = []
            for head in range(HEADS):
                at = head // group * dim
                q = qs[p][head * dim:(head + 1) * dim]
                scores = [sum(a * b for a, b in zip(q, ks[j][at:at + dim])) / math.sqrt(dim) for j in range(p + 1)]
                top = max(scores)
                e = [math.exp(s - top) for s in scores]
                mixed += [sum(e[j] * vs[j][at + d] for j in range(p + 1)) / sum(e) for d in range(dim)]
            xs[p] = [a + b for a, b in zip(x, linear(w, "o", layer, mixed))]
        for p, x in enumerate(xs):
            h = rms_norm(x, w["mlp_norm", layer][0])
            gate, up = linear(w, "gate", layer, h), linear(w, "up", layer, h)
            y = linear(w, "down", layer, [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])
            xs[p] = [a + b for a, b in zip(x, y)]
    head = w["embed"] if case["tied"] else w["head"]
    return [[sum(a * b for a, b in zip(row, h)) for row in head] for h in (rms_norm(x, w["norm"][0]) for x in xs)]


# ---- files ----
JSON_NAMES = {"embed": "model.embed_tokens.weight", "norm": "model.norm.weight", "head": "lm_head.weight",
              "attention_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm", "q": "self_attn.q_proj",
              "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj", "gate": "mlp.gate_proj",
              "up": "mlp.up_proj", "down": "mlp.down_proj"}
GGUF_NAMES = {"embed": "token_embd.weight", "norm": "output_norm.weight", "head": "output.weight", "attention_norm": "attn_norm",
              "mlp_norm": "ffn_norm", "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate",
              "up": "ffn_up", "down": "ffn_down"}


def file_name(names, layer_prefix, key):
    if isinstance(key, str):
        return names[key]
    stem, layer = key
    kind = "bias" if stem.endswith(".bias") else "weight"
    return f"{layer_prefix}{layer}.{names[stem.removesuffix('.bias')]}.{kind}"


def tensor_bytes(case, rows):
    kind = tensor_kind(case, rows)
    return b"".join(stored(kind, x)[1] for row in rows for x in row)


def write_safetensors(case, w, folder):
    header, blob = {}, b""
    for key, rows in w.items():
        raw = tensor_bytes(case, rows)
        shape = [len(rows[0])] if len(rows) == 1 else [len(rows), len(rows[0])]
        header[file_name(JSON_NAMES, "model.layers.", key)] = {"dtype": tensor_kind(case, rows), "shape": shape,
                                                               "data_offsets": [len(blob), len(blob) + len(raw)]}
        blob += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + blob)
    (folder / "config.json").write_text(json.dumps(case["config"], indent=1) + "\n")


def interleave(case, rows):
    """q and k rows as GGUF has them: the two halves of each head side by side."""
    dim, flat = case["head_dim"], len(rows) == 1
    items = rows[0] if flat else rows
    out = []
    for head in range(0, len(items), dim):
        for i in range(dim // 2):
            out += [items[head + i], items[head + i + dim // 2]]
    return [out] if flat else out


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def write_gguf(case, w, folder):
    pairs = {"general.architecture": "llama", "general.name": case["name"], "llama.block_count": LAYERS,
             "llama.context_length": CONTEXT, "llama.embedding_length": HIDDEN, "llama.feed_forward_length": FFN,
             "llama.attention.head_count": HEADS, "llama.attention.head_count_kv": KV_HEADS,
             "llama.attention.layer_norm_rms_epsilon": EPS, "llama.rope.freq_base": float(case["theta"]),
             "llama.rope.dimension_count": case["head_dim"], "llama.vocab_size": VOCAB}
    tensors = {file_name(GGUF_NAMES, "blk.", key): (tensor_kind(case, rows), rows) for key, rows in
               ((key, interleave(case, rows) if key[0] in ("q", "k", "q.bias", "k.bias") else rows) for key, rows in w.items())}
    scaled, _ = frequencies(case)
    plain = [case["theta"] ** (-2 * i / case["head_dim"]) for i in range(case["head_dim"] // 2)]
    tensors["rope_freqs.weight"] = ("F32", [[a / b for a, b in zip(plain, scaled)]])
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    for key, value in pairs.items():
        out += gguf_text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + gguf_text(value)
        else:
            out += struct.pack("<If", 6, value) if isinstance(value, float) else struct.pack("<II", 4, value)
    data = b""
    for name, (kind, rows) in tensors.items():
        shape = [len(rows[0])] if len(rows) == 1 else [len(rows[0]), len(rows)]
        out += gguf_text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
        out += struct.pack("<IQ", {"F32": 0, "F16": 1}[kind], len(data))
        data += b"".join(stored(kind, x)[1] for row in rows for x in row)
        data += b"\0" * (-len(data) % 32)
    out += b"\0" * (-len(out) % 32)
    (folder / "model.gguf").write_bytes(out + data)


def config(model_type, **more):
    return {"model_type": model_type, "hidden_size": HIDDEN, "intermediate_size": FFN, "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "vocab_size": VOCAB,
            "max_position_embeddings": CONTEXT, "rms_norm_eps": EPS, "hidden_act": "silu", **more}


LLAMA3 = {"type": "llama3", "factor": 8.0, "low": 1.0, "high": 4.0, "original": 32}
CASES = [
    {"name": "llama_linear", "seed": 1, "head_dim": 8, "theta": 10000.0, "rope": {"type": "linear", "factor": 4.0}, "biases": [],
     "tied": False, "kind": "BF16", "vector_kind": "BF16",
     "config": config("llama", tie_word_embeddings=False, rope_theta=10000.0, rope_scaling={"type": "linear", "factor": 4.0})},
    {"name": "llama_llama3_bias", "seed": 2, "head_dim": 12, "theta": 100.0, "rope": LLAMA3,
     "biases": ["q", "k", "v", "o", "gate", "up", "down"], "tied": True, "kind": "F16", "vector_kind": "F16",
     "config": config("llama", tie_word_embeddings=True, head_dim=12, attention_bias=True, mlp_bias=True,
                      rope_parameters={"rope_type": "llama3", "rope_theta": 100.0, "factor": 8.0, "low_freq_factor": 1.0,
                                       "high_freq_factor": 4.0, "original_max_position_embeddings": 32})},
    {"name": "qwen2_yarn", "seed": 3, "head_dim": 8, "theta": 1000.0, "rope": {"type": "yarn", "factor": 4.0, "original": 16},
     "biases": ["q", "k", "v"], "tied": True, "kind": "BF16", "vector_kind": "F32",
     "config": config("qwen2", tie_word_embeddings=True, use_sliding_window=False, sliding_window=8, rope_theta=1000.0,
                      rope_scaling={"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16})},
    {"name": "gguf_llama3", "seed": 4, "head_dim": 8, "theta": 100.0, "rope": LLAMA3, "biases": ["q", "k", "v"], "tied": False,
     "kind": "F16", "vector_kind": "F32", "config": None},
]


def main():
    for case in CASES:
        folder = OUT / case["name"]
        folder.mkdir(parents=True, exist_ok=True)
        w = make_weights(case)
        (write_safetensors if case["config"] else write_gguf)(case, w, folder)
        logits = forward(case, w, PROMPT)
        ids = list(PROMPT)
        margins = []
        for _ in range(GREEDY):
            last = forward(case, w, ids)[-1]
            ranked = sorted(last, reverse=True)
            margins.append(ranked[0] - ranked[1])
            ids.append(last.index(ranked[0]))
        expected = {"prompt_ids": PROMPT, "greedy_ids": ids[len(PROMPT):], "smallest_margin": round(min(margins), 6),
                    "logits": [[round(x, 7) for x in row] for row in logits]}
        (folder / "expected.json").write_text(json.dumps(expected, separators=(",", ":")) + "\n")
        print(case["name"], "smallest margin", min(margins))


if __name__ == "__main__":
    main()
