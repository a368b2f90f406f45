#!/usr/bin/env python3
"""Camshaft beside llama.cpp's own tools on one machine, in interleaved pairs; prints medians and ratios. Standard library only.

  compare_llama_cpp.py --camshaft build/release/camshaft --llama LLAMA_BIN_FOLDER --model models/X.gguf --q8 X.Q8_0.gguf --bf16 X.BF16.gguf

--q8 and --bf16 are the same model requantised by llama-quantize. Parts: decode, prefill, batch, serve (--parts, default all).
The share of processor time that others took is measured before each block and printed with it.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--camshaft", required=True)
    parser.add_argument("--llama", required=True, help="folder with llama-bench, llama-batched-bench and llama-server")
    parser.add_argument("--model", required=True)
    parser.add_argument("--q8", required=True)
    parser.add_argument("--bf16", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--parts", default="decode,prefill,batch,serve")
    parser.add_argument("--precision", default="keep", help="of the engine that is built for the run")
    return parser.parse_args()


def busy_share(seconds=2.0):
    """Share of all processor time that is taken while we do nothing."""
    def read():
        fields = [int(x) for x in open("/proc/stat").readline().split()[1:9]]
        return sum(fields), fields[3] + fields[4]
    total, idle = read()
    time.sleep(seconds)  # the measuring interval itself
    total2, idle2 = read()
    return 1 - (idle2 - idle) / max(1, total2 - total)


def output(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=900)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-500:]}\n{done.stderr[-500:]}")
    return done.stdout


class Peers:
    def __init__(self, args):
        self.args = args
        self.engine = str(pathlib.Path(tempfile.mkdtemp(prefix="camshaft_bench_")) / "model.engine")
        output([args.camshaft, "build", args.model, "-o", self.engine, "--precision", args.precision])
        self.t = str(args.threads)

    def camshaft_bench(self, input_len, output_len, concurrency=1, requests=1):
        return json.loads(output([self.args.camshaft, "bench", self.engine, "--json", "--threads", self.t, "--input-len", str(input_len),
                                  "--output-len", str(output_len), "--concurrency", str(concurrency), "--requests", str(requests)]))

    def llama_bench(self, model, prompt, generate):
        rows = json.loads(output([f"{self.args.llama}/llama-bench", "-m", model, "-p", str(prompt), "-n", str(generate), "-t", self.t,
                                  "-r", "1", "-o", "json"]))
        return rows[0]["avg_ts"]

    def llama_batch(self, model, batch):
        text = output([f"{self.args.llama}/llama-batched-bench", "-m", model, "-c", str(batch * 256), "-b", "2048", "-ub", "512", "-npp", "128",
                       "-ntg", "64", "-npl", str(batch), "-t", self.t, "--output-format", "jsonl"])
        row = next(json.loads(line) for line in text.splitlines() if line.startswith("{"))
        return row["speed_tg"]

    def serve(self, command, port, api):
        server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(port)
            report = json.loads(output(["python3", str(HERE / "serve_client.py"), "--api", api, "--url", f"http://127.0.0.1:{port}", "--clients",
                                        "32", "--requests", "96", "--prompt-tokens", "136", "--output-tokens", "64", "--json"]))
            report["peak_rss_mb"] = peak_rss_mb(server.pid)
            return report
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=60)


def wait_for(port):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).status == 200:
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"no server answers on port {port}")


def peak_rss_mb(pid):
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024


def pairs(name, count, ours, theirs, unit="tok/s"):
    """Runs both in turn; prints each side's median [min-max] and the median of the ratios."""
    busy = busy_share()
    rows = [(ours(), theirs()) for _ in range(count)]
    mine, peer = [r[0] for r in rows], [r[1] for r in rows]

    def show(values):
        return f"{statistics.median(values):.1f} [{min(values):.1f}-{max(values):.1f}]"
    ratio = statistics.median(a / b for a, b in rows)
    print(f"{name:44s} camshaft {show(mine)}  llama.cpp {show(peer)} {unit}  ratio {ratio:.2f}  (others {busy:.1%})", flush=True)
    return ratio


def main():
    args = parse()
    peers = Peers(args)
    parts = args.parts.split(",")

    def decode():
        report = peers.camshaft_bench(8, 129)
        return 1000 / report["itl_ms"]["mean"]

    def prefill():
        return 512000 / peers.camshaft_bench(512, 1)["ttft_ms"]["p50"]

    def batch():
        return 32000 / peers.camshaft_bench(128, 64, 32, 32)["itl_ms"]["p50"]

    if "decode" in parts:
        pairs("decode tg128, same file", args.pairs, decode, lambda: peers.llama_bench(args.model, 0, 128))
    if "prefill" in parts:
        pairs("prefill pp512, same file", args.pairs, prefill, lambda: peers.llama_bench(args.model, 512, 0))
    if "batch" in parts:
        pairs("decode of 32 sequences, its Q8_0", args.pairs, batch, lambda: peers.llama_batch(args.q8, 32))
    if "serve" in parts:
        ours = [args.camshaft, "serve", peers.engine, "--port", "8411", "--threads", peers.t]
        theirs = [f"{args.llama}/llama-server", "-m", args.bf16, "--port", "8412", "-t", peers.t, "-np", "32", "-c", "16384"]
        rows = []
        for _ in range(args.pairs):
            rows.append((peers.serve(ours, 8411, "camshaft"), peers.serve(theirs, 8412, "llama")))
        for key, find in (("output tok/s", lambda r: r["output_tokens_per_second"]), ("TTFT p50 ms", lambda r: r["ttft_ms"]["p50"]),
                          ("peak RSS MB", lambda r: r["peak_rss_mb"])):
            a, b = ([find(row[i]) for row in rows] for i in (0, 1))
            ratio = statistics.median(x / y for x, y in zip(a, b))
            print(f"serve 32 clients, its BF16: {key:16s} camshaft {statistics.median(a):.1f}  llama.cpp {statistics.median(b):.1f}  ratio {ratio:.2f}")
    os.unlink(peers.engine)


main()
