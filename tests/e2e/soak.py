#!/usr/bin/env python3
"""Soak: mixed traffic for a while. Usage: soak.py CAMSHAFT ENGINE-or-MODEL [--seconds N] [--clients N] [--seed N]

Each client draws its next request by chance: a stream read to its end, one left midway, a whole answer, a bad request, or a canary
(greedy, whose text must never change). At the end nothing may run, wait or hold cache blocks, and memory may not have grown since
the first third by more than 16 MiB. Standard library only. Exit code 0 clean, 1 otherwise.
"""
import argparse
import http.client
import json
import random
import re
import sys
import threading
import time

import support

CANARY = {"prompt": "The capital of France is", "max_tokens": 24, "temperature": 0}
GROWTH_MIB = 16


def resident_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1)) / 1024


class Soak:
    def __init__(self, server, options):
        self.server, self.options = server, options
        self.ends_at = time.monotonic() + options.seconds
        self.expected = server.post("/v1/completions", CANARY)["choices"][0]["text"]
        self.counts, self.faults, self.lock = {}, [], threading.Lock()

    def client(self, number):
        chance = random.Random(self.options.seed * 1000 + number)
        acts = [self.stream, self.leave, self.whole, self.bad, self.canary]
        while time.monotonic() < self.ends_at:
            act = chance.choice(acts)
            try:
                act(chance)
            except Exception as error:  # noqa: BLE001: any failure is a finding
                with self.lock:
                    self.faults.append(f"{act.__name__}: {type(error).__name__}: {str(error)[:300]}")
            with self.lock:
                self.counts[act.__name__] = self.counts.get(act.__name__, 0) + 1

    def body(self, chance):
        return {"prompt": "".join(chance.choice(["the ", "ship ", "\u00e9", "\U0001f600", "42 ", "\n"]) for _ in range(chance.randint(1, 200))),
                "max_tokens": chance.randint(1, 80), "temperature": chance.choice([0, 0.7, 1.5]), "top_p": chance.choice([1, 0.9]),
                "top_k": chance.choice([0, 20]), "seed": chance.randint(0, 9), "stop": chance.choice([None, ["\n"], ["the", "a"]])}

    def stream(self, chance):
        self.server.stream("/v1/completions", {**self.body(chance), "stream": True})

    def whole(self, chance):
        self.server.post("/v1/completions", self.body(chance))

    def leave(self, chance):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        connection.request("POST", "/v1/completions", json.dumps({**self.body(chance), "stream": True, "ignore_eos": True}))
        if chance.random() < 0.7:
            connection.getresponse().read(chance.randint(1, 400))
        connection.close()

    def bad(self, chance):
        data = json.dumps(self.body(chance)).encode()
        cut = data[: chance.randint(0, len(data) - 1)] if chance.random() < 0.5 else json.dumps({"prompt": chance.randint(0, 9)}).encode()
        status, text = self.server.request("POST", "/v1/completions", cut)
        assert status == 400, f"{status} {text[:200]}"

    def canary(self, chance):
        text = self.server.post("/v1/completions", CANARY)["choices"][0]["text"]
        assert text == self.expected, f"{text!r}, expected {self.expected!r}"

    def run(self):
        clients = [threading.Thread(target=self.client, args=(number,)) for number in range(self.options.clients)]
        for client in clients:
            client.start()
        third = self.ends_at - self.options.seconds * 2 / 3
        while time.monotonic() < third:  # memory is compared from here on
            clients[0].join(timeout=0.5)
        early = resident_mib(self.server.process.pid)
        for client in clients:
            client.join()
        self.settles()
        grown = resident_mib(self.server.process.pid) - early
        if grown > GROWTH_MIB:
            self.faults.append(f"memory grew by {grown:.0f} MiB since the first third, {GROWTH_MIB} are allowed")
        print(f"{sum(self.counts.values())} requests {self.counts}, memory {early:.0f} MiB then {grown:+.1f} MiB, {len(self.faults)} faults")

    def settles(self):
        """Those that were left are cancelled within a step or two."""
        names = ("camshaft_num_requests_running", "camshaft_num_requests_waiting", "camshaft_kv_cache_usage_ratio")
        deadline = time.monotonic() + 10
        while any(self.server.metric(name) for name in names):
            if time.monotonic() > deadline:
                self.faults.append("after the end: " + ", ".join(f"{name} {self.server.metric(name)}" for name in names))
                return


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("camshaft")
    parser.add_argument("engine")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main():
    options = parse()
    # Few blocks and a small batch, so that waiting and preemption happen all the time.
    with support.Server(options.camshaft, options.engine, "--max-seqs", "12", "--max-seq-len", "512", "--kv-memory", "24M") as server:
        soak = Soak(server, options)
        soak.run()
    for fault in soak.faults[:20]:
        print("FAULT", fault, file=sys.stderr)
    return 1 if soak.faults else 0


sys.exit(main())
