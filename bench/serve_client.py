#!/usr/bin/env python3
"""Closed-loop load on a completions server: N clients, each sends its next request when its last one ended.

Distinct prompts of about P tokens, O output tokens each (end token ignored), streamed. One asyncio loop, raw sockets, nothing but
the standard library, so that the client takes little of the cores it shares with the server.

  serve_client.py --url http://127.0.0.1:8000 --clients 32 --requests 128 --prompt-tokens 136 --output-tokens 64
  serve_client.py --api llama ...     the same against llama-server (field names differ)
  serve_client.py --json              one JSON object on stdout

A token counts when its event arrives: TTFT from the request's first byte sent, ITL per gap between events with text, TPOT per
request as (last - first) / (tokens - 1). Tokens come from the server's usage where it sends one, else events are counted.
"""
import argparse
import asyncio
import json
import math
import random
import sys
import time
import urllib.parse

# Short everyday words: about one token each in the vocabularies in use.
WORDS = ("time year people way day man thing woman life child world school state family student group country problem hand part "
         "place case week company system program question work government number night point home water room mother area money "
         "story fact month lot right study book eye job word business issue side kind head house service friend father power hour "
         "game line end member law car city community name president team minute idea kid body information back parent face "
         "others level office door health person art war history party result change morning reason research girl guy moment air "
         "teacher force education").split()


def make_prompt(index, tokens, seed):
    """Differs from every other index within the first words, so that no prefix is shared."""
    source = random.Random(seed * 1_000_003 + index)
    return f"{index} " + " ".join(source.choice(WORDS) for _ in range(max(1, tokens - 2)))


def make_body(options, index):
    body = {"prompt": make_prompt(index, options.prompt_tokens, options.seed), "max_tokens": options.output_tokens, "stream": True,
            "temperature": options.temperature, "ignore_eos": True, "stream_options": {"include_usage": True}}
    if options.model:
        body["model"] = options.model
    if options.api == "llama":
        body.update(cache_prompt=False, n_predict=options.output_tokens)
    return json.dumps(body).encode()


class Failure(Exception):
    pass


class Record:
    """Times of one request."""

    def __init__(self):
        self.sent = time.perf_counter()
        self.tokens_at = []  # when events with text came
        self.completion_tokens = 0
        self.prompt_tokens = 0
        self.ended = self.sent

    def take(self, event, now):
        if event == b"[DONE]":
            return
        data = json.loads(event)
        if "error" in data:
            raise Failure(f"error event: {data['error'].get('message', data['error'])}")
        if any(choice.get("text") for choice in data.get("choices") or ()):
            self.tokens_at.append(now)
        usage = data.get("usage")
        if usage:
            self.completion_tokens = usage["completion_tokens"]
            self.prompt_tokens = usage["prompt_tokens"]

    def finish(self):
        self.ended = time.perf_counter()
        self.completion_tokens = self.completion_tokens or len(self.tokens_at)
        if not self.tokens_at:
            raise Failure("no event with text came")


class Connection:
    """One keep-alive connection, opened when needed."""

    def __init__(self, host, port):
        self.host, self.port = host, port
        self.reader = self.writer = None

    async def request(self, path, body, record):
        head = (f"POST {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        answer = await self.head_of_answer(head + body, record)
        if "transfer-encoding: chunked" not in answer:
            text = await self.rest_of(answer)
            raise Failure(f"{answer.splitlines()[0]}: {text[:200]}")
        await self.read_events(record)
        if "connection: close" in answer:
            self.close()

    async def head_of_answer(self, message, record):
        """Sends and reads up to the empty line; a kept connection that the server has closed meanwhile is opened anew, once."""
        kept = self.writer is not None
        if not kept:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        record.sent = time.perf_counter()
        self.writer.write(message)
        try:
            return (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            if not kept or getattr(error, "partial", b""):
                raise
            self.close()
            return await self.head_of_answer(message, record)

    async def rest_of(self, answer):
        for line in answer.splitlines():
            if line.startswith("content-length:"):
                return (await self.reader.readexactly(int(line.split(":")[1]))).decode("utf-8", "replace")
        return ""

    async def read_events(self, record):
        pending = b""
        while True:
            size = int((await self.reader.readline()).split(b";")[0], 16)
            data = await self.reader.readexactly(size + 2)
            if size == 0:
                return
            now = time.perf_counter()
            *events, pending = (pending + data[:-2]).split(b"\n\n")
            for event in events:
                if event.startswith(b"data: "):
                    record.take(event[6:], now)

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


async def run_client(options, indices, records, errors):
    address = urllib.parse.urlsplit(options.url)
    connection = Connection(address.hostname, address.port or 80)
    for index in indices:  # shared: whoever is free takes the next
        record = Record()
        try:
            await asyncio.wait_for(connection.request("/v1/completions", make_body(options, index), record), options.timeout)
            record.finish()
            records.append(record)
        except (Failure, OSError, ValueError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
            errors.append(f"{type(error).__name__}: {error}")
            connection.close()
    connection.close()


async def run(options, first, count):
    records, errors = [], []
    indices = iter(range(first, first + count))
    begin = time.perf_counter()
    await asyncio.gather(*(run_client(options, indices, records, errors) for _ in range(options.clients)))
    return records, errors, time.perf_counter() - begin


def percentiles(values):
    ordered = sorted(values)
    if not ordered:
        return {"p50": None, "p90": None, "p99": None}
    return {f"p{p}": round(ordered[min(len(ordered) - 1, math.ceil(len(ordered) * p / 100) - 1)], 3) for p in (50, 90, 99)}


def summarise(options, records, errors, seconds):
    gaps = [later - earlier for record in records for earlier, later in zip(record.tokens_at, record.tokens_at[1:])]
    per_token = [(record.tokens_at[-1] - record.tokens_at[0]) / (record.completion_tokens - 1)
                 for record in records if record.completion_tokens > 1]
    output = sum(record.completion_tokens for record in records)
    return {
        "api": options.api, "clients": options.clients, "requests": len(records), "seconds": round(seconds, 3),
        "prompt_tokens": sum(record.prompt_tokens for record in records), "output_tokens": output,
        "output_tokens_per_second": round(output / seconds, 2),
        "requests_per_second": round(len(records) / seconds, 3),
        "ttft_ms": percentiles([(record.tokens_at[0] - record.sent) * 1000 for record in records]),
        "itl_ms": percentiles([gap * 1000 for gap in gaps]),
        "tpot_ms": percentiles([value * 1000 for value in per_token]),
        "e2e_ms": percentiles([(record.ended - record.sent) * 1000 for record in records]),
        "errors": len(errors), "first_error": errors[0] if errors else None,
    }


def print_table(summary):
    print(f"{summary['requests']} requests by {summary['clients']} clients in {summary['seconds']} s, {summary['errors']} errors")
    print(f"output {summary['output_tokens']} tokens, {summary['output_tokens_per_second']} tok/s "
          f"({summary['prompt_tokens']} prompt tokens)")
    for name in ("ttft_ms", "itl_ms", "tpot_ms", "e2e_ms"):
        print(f"{name:8}" + "".join(f"  {key} {value}" for key, value in summary[name].items()))
    if summary["first_error"]:
        print(f"first error: {summary['first_error']}", file=sys.stderr)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--api", choices=("camshaft", "llama"), default="camshaft")
    parser.add_argument("--model", help="sent as model; default: none")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--requests", type=int, default=128, help="in all")
    parser.add_argument("--warmup", type=int, default=0, help="requests before the measured ones")
    parser.add_argument("--prompt-tokens", type=int, default=136, help="about so many; the server's usage tells exactly")
    parser.add_argument("--output-tokens", type=int, default=64)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1, help="of the prompts")
    parser.add_argument("--timeout", type=float, default=600, help="seconds a request")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def main():
    options = parse_options()
    if options.warmup:
        asyncio.run(run(options, 10_000_000, options.warmup))
    summary = summarise(options, *asyncio.run(run(options, 0, options.requests)))
    if options.json:
        print(json.dumps(summary))
    else:
        print_table(summary)
    return 1 if summary["errors"] else 0


if __name__ == "__main__":
    sys.exit(main())
